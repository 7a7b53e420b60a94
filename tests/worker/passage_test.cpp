// passage_test - our own output, written to without ever being waited for.

// System.
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
// fq, below us.
#include "core/worker/process/passage.h"
// Tests.
#include "tests/worker/fixture.h"

namespace fq::test {

namespace {

constexpr size_t kHeldMax = 256 * 1024;

/// No file grows over it: what a write finds then is what it finds on a full disk, but for the error's name.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &limit_before_);
    const struct rlimit limit { bytes, limit_before_.rlim_max };
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~FileSizeLimit() {
    lift();
    ::signal(SIGXFSZ, signal_before_);
  }
  void lift() const { ::setrlimit(RLIMIT_FSIZE, &limit_before_); }

 private:
  sighandler_t signal_before_ = ::signal(SIGXFSZ, SIG_IGN);
  struct rlimit limit_before_ {};
};

/// The worker's descriptor, which others share: it blocks.
void make_blocking(const PipeEnds& pipe) { ::fcntl(pipe.write.get(), F_SETFL, 0); }

}  // namespace

TEST_CASE("what the reader does not take now is held and written later, unchanged") {
  PipeEnds pipe;
  make_blocking(pipe);
  Passage passage(pipe.write.get());
  std::string all;
  for (int i = 0; i < 20'000; ++i) all += std::to_string(i) + "\n";
  passage.write(all);
  CHECK(passage.holds_something());
  std::string got = pipe.drain();
  while (passage.holds_something()) {
    passage.flush();
    got += pipe.drain();
  }
  CHECK(got == all);
  CHECK((::fcntl(pipe.write.get(), F_GETFL) & O_NONBLOCK) == 0);
}

TEST_CASE("what we say stands behind the line that a job has begun, where that ends soon") {
  PipeEnds pipe;
  Passage passage(pipe.write.get());
  passage.say("first\n");
  CHECK(passage.next_ms() == kNever);
  passage.write("whole\nbegun");
  passage.say("said\n");
  passage.say("too\n");
  CHECK(passage.next_ms() != kNever);
  passage.write(" and");
  passage.write(" ended\nbegun again");
  CHECK(pipe.drain() == "first\nwhole\nbegun and ended\nsaid\ntoo\nbegun again");
  CHECK(passage.next_ms() == kNever);
  passage.say("late\n");
  passage.on_time(passage.next_ms() - 1);
  CHECK(pipe.drain() == "");
  passage.on_time(passage.next_ms());
  CHECK(pipe.drain() == "late\n");
  passage.write("last");
  passage.say("at the end\n");
  CHECK(passage.finish(0) == 0);
  CHECK(pipe.drain() == "lastat the end\n");
}

TEST_CASE("what is said once all is out comes out too, also where a line was left begun") {
  PipeEnds pipe;
  Passage passage(pipe.write.get());
  passage.write("begun");
  CHECK(passage.finish(0) == 0);
  passage.say("said\n");
  CHECK(pipe.drain() == "begunsaid\n");
}

TEST_CASE("two descriptors have one reader where they are of one pipe or socket") {
  const PipeEnds pipe, other;
  const Descriptor same(::fcntl(pipe.write.get(), F_DUPFD_CLOEXEC, 0));
  const Passage passage(pipe.write.get());
  CHECK(passage.has_reader_of(same.get()));
  CHECK_FALSE(passage.has_reader_of(other.write.get()));
  CHECK_FALSE(passage.has_reader_of(1'000'000));
  const Sink file;
  CHECK_FALSE(Passage(file.get()).has_reader_of(file.get()));
}

TEST_CASE("over the limit what may be said without end is left out and counted, all else is held") {
  PipeEnds pipe;
  Passage passage(pipe.write.get());
  pipe.fill();
  passage.write(std::string(kHeldMax - 1, 'a'));
  CHECK(passage.has_room());
  passage.remark("b");
  CHECK_FALSE(passage.has_room());
  passage.remark("lost");
  passage.write("c");
  const std::string rest = pipe.drain();
  std::string got;
  while (passage.holds_something()) {
    passage.flush();
    got += pipe.drain();
  }
  CHECK(got == std::string(kHeldMax - 1, 'a') + "bc");
  CHECK(passage.has_room());
  CHECK(passage.finish(0) == 4);
  CHECK(passage.finish(0) == 0);  // counted once
}

TEST_CASE("a reader that has left costs nothing") {
  const NoPipeSignal ignored;
  PipeEnds pipe;
  Passage passage(pipe.write.get());
  pipe.fill();
  passage.write("held");
  pipe.read.close();
  passage.flush();
  CHECK(passage.broken());
  CHECK_FALSE(passage.holds_something());
  passage.write(std::string(2 * kHeldMax, 'x'));
  CHECK(passage.has_room());
  CHECK(passage.finish(0) == 0);
}

TEST_CASE("so does one that was never open") {
  Passage passage(1'000'000);
  passage.write("x");
  CHECK(passage.broken());
  CHECK_FALSE(passage.holds_something());
  CHECK(passage.finish(0) == 0);
}

TEST_CASE("a device that is full drops what it is given now, and that is counted") {
  const Descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  Passage passage(full.get());
  passage.write("abc");
  CHECK_FALSE(passage.broken());
  CHECK_FALSE(passage.holds_something());
  passage.write("de");
  CHECK(passage.finish(0) == 5);
}

TEST_CASE("a log on a full disk goes on where there is room again") {
  const FileSizeLimit limit(8);
  Sink file;
  Passage passage(file.get());
  passage.write("first\n");
  passage.write("second\n");
  limit.lift();
  passage.write("third\n");
  CHECK(file.text() == "first\nsethird\n");
  CHECK(passage.finish(0) == 5);
}

TEST_CASE("a file holds nothing back") {
  Sink file;
  Passage passage(file.get());
  const std::string all(3 * kHeldMax, 'x');
  passage.write(all);
  CHECK_FALSE(passage.holds_something());
  CHECK(file.text() == all);
}

TEST_CASE("a socket is not waited for either") {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  const Descriptor ours(ends[0]), theirs(ends[1]);
  Passage passage(ours.get());
  passage.write(std::string(4 * kHeldMax, 'x'));
  CHECK(passage.holds_something());
  CHECK(passage.finish(0) > 0);
}

TEST_CASE("at the end it waits for the reader, but not for ever") {
  PipeEnds pipe;
  Passage passage(pipe.write.get());
  pipe.fill();
  passage.write("lost");
  CHECK(passage.finish(1) == 4);
  passage.write("held");
  pipe.drain();
  CHECK(passage.finish(60'000) == 0);
  CHECK(pipe.drain() == "held");
}

}  // namespace fq::test
