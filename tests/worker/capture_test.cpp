// capture_test - what comes out of a job's pipe: kept, its end remembered, a flood slowed down.

// fq, below us.
#include "core/worker/process/capture.h"
// Tests.
#include "tests/worker/fixture.h"

namespace fq::test {

namespace {

/// What `text` leaves behind when a job writes it and ends.
struct Taken {
  std::string kept, tail;
  Gap gap = {};
};
Taken taken(const std::string& text, uint64_t kept_bytes_max, size_t tail_bytes) {
  PipeEnds pipe;
  Transcript transcript(nullptr, kept_bytes_max);
  Capture capture(std::move(pipe.read), {.transcript = &transcript, .tail_bytes = tail_bytes});
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = ::write(pipe.write.get(), text.data() + done, text.size() - done);
    if (written > 0) done += static_cast<size_t>(written);
    CHECK(capture.take_some() == Capture::Progress::more);
  }
  pipe.write.close();
  while (capture.take_some() != Capture::Progress::ended) {
  }
  CHECK_FALSE(capture.open());
  JobOutput kept = transcript.take();
  return {std::move(kept.out), capture.tail(), kept.out_gap};
}

}  // namespace

TEST_CASE("an output at the limit is kept whole, one byte more is cut and counted") {
  CHECK(taken("0123456789", 10, 0).kept == "0123456789");
  CHECK(taken("0123456789", 10, 0).gap == Gap{});
  CHECK(taken("0123456789a", 10, 0).kept == "0123456789");
  CHECK(taken("0123456789a", 10, 0).gap == Gap{10, 1});
  CHECK(taken("", 10, 0).kept == "");
  CHECK(taken("0123456789", 0, 0).kept == "");
}

TEST_CASE("a flood is cut at the limit and counted to its end") {
  const Taken flood = taken(std::string(5 << 20, 'x'), 1 << 20, 4096);
  CHECK(flood.kept == std::string(1 << 20, 'x'));
  CHECK(flood.gap == Gap{1 << 20, 4 << 20});
  CHECK(flood.tail == std::string(4096, 'x'));
}

TEST_CASE("the end of an output is remembered, however it came") {
  CHECK(taken("short", 0, 10).tail == "short");
  CHECK(taken("0123456789", 0, 10).tail == "0123456789");
  CHECK(taken("a0123456789", 0, 10).tail == "0123456789");
  PipeEnds pipe;
  Capture capture(std::move(pipe.read), {.tail_bytes = 4});
  for (const char* part : {"ab", "cd", "e", "fghijk", "l"}) {
    REQUIRE(::write(pipe.write.get(), part, std::string_view(part).size()) > 0);
    CHECK(capture.take_some() == Capture::Progress::more);
  }
  CHECK(capture.tail() == "ijkl");
  CHECK(taken(std::string("a\0b\xff", 4), 9, 9).kept == std::string("a\0b\xff", 4));
}

TEST_CASE("nothing there is no end") {
  PipeEnds pipe;
  Capture capture(std::move(pipe.read), {});
  CHECK(capture.take_some() == Capture::Progress::more);
  CHECK(capture.open());
}

TEST_CASE("a job is not read while its output cannot be passed on: its own pipe stops it") {
  PipeEnds ours, job;
  Passage passage(ours.write.get());
  Capture capture(std::move(job.read), {.passage = &passage});
  size_t written = job.fill();
  while (capture.take_some() == Capture::Progress::more) written += job.fill();
  CHECK(capture.take_some() == Capture::Progress::blocked);
  CHECK_FALSE(capture.can_go_on());
  CHECK(job.fill() == 0);
  CHECK(written < 600'000);  // two pipes, what is held, and a read over it
  size_t got = 0;
  for (std::string part; !(part = ours.drain()).empty(); passage.flush()) got += part.size();
  CHECK(capture.can_go_on());
  CHECK(capture.take_some() == Capture::Progress::more);
  CHECK_FALSE(capture.can_go_on());
  CHECK(job.fill() > 0);
  CHECK(got <= written);
}

TEST_CASE("what a job wrote before its end is taken, what its descendants write for ever is dropped") {
  PipeEnds pipe;
  REQUIRE(::write(pipe.write.get(), "said", 4) == 4);
  Transcript transcript(nullptr, 100);
  Capture capture(std::move(pipe.read), {.transcript = &transcript});
  capture.finish();  // although it is still open for writing
  CHECK(pipe.fill() > 0);
  CHECK(capture.take_some() == Capture::Progress::more);
  CHECK(pipe.fill() > 0);
  CHECK(transcript.take().out == "said");
  pipe.write.close();
  CHECK(capture.take_some() == Capture::Progress::more);
  CHECK(capture.take_some() == Capture::Progress::ended);
  // Who never stops: a device that always has more.
  Capture endless(Descriptor(::open("/dev/zero", O_RDONLY | O_CLOEXEC)), {.tail_bytes = 10});
  endless.finish();
  CHECK(endless.tail() == std::string(10, '\0'));
}

TEST_CASE("what a job wrote before its end is passed on, however slow the reader") {
  PipeEnds ours, job;
  Passage passage(ours.write.get());
  const size_t before = ours.fill() + 256 * 1024;
  passage.write(std::string(256 * 1024, 'x'));
  REQUIRE(::write(job.write.get(), "last words", 10) == 10);
  Transcript transcript(nullptr, 100);
  Capture capture(std::move(job.read), {.passage = &passage, .transcript = &transcript, .tail_bytes = 4});
  CHECK(capture.take_some() == Capture::Progress::blocked);
  capture.finish();
  CHECK(transcript.take().out == "last words");
  CHECK(capture.tail() == "ords");
  CHECK_FALSE(passage.has_room());
  std::string got;
  for (std::string part; !(part = ours.drain()).empty(); passage.flush()) got += part;
  CHECK(got == std::string(before, 'x') + "last words");
}

}  // namespace fq::test
