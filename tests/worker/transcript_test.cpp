// transcript_test - what a job wrote is in memory while it is little and new, then where others read it.

// fq, below us.
#include "core/worker/process/transcript.h"
// Tests.
#include "tests/catch.h"

namespace fq::test {

using worker::Transcript;

namespace {

/// Takes note of what it is told.
class NotedRun final : public RunOutput {
 public:
  bool called = false;
  bool opens = true;
  bool is_open = false, is_closed = false, room = true;
  std::string texts[2];

  bool is_called() const override { return called; }
  Result<void> open() override {
    is_open = opens;
    if (opens) return {};
    return Error{ErrorKind::later, "the disk is full", 0};
  }
  bool has_room(Channel) override { return room; }
  void write(Channel channel, std::string_view bytes) override {
    texts[static_cast<size_t>(channel)].append(bytes);
  }
  void close() override { is_closed = true; }
  uint64_t kept_bytes(Channel) const override { return 0; }
  Gap gap(Channel) const override { return {}; }
  Result<void> read_kept(Channel, uint64_t, MutableBytes) const override { return {}; }
};

}  // namespace

TEST_CASE("a short output of a short job stays in memory") {
  const auto run = std::make_shared<NotedRun>();
  Transcript transcript(run, 1'000'000);
  CHECK(transcript.next_ms() == kNever);
  transcript.write(Channel::out, "out");
  transcript.write(Channel::err, "err");
  const JobOutput output = transcript.take();
  CHECK_FALSE(run->is_open);
  CHECK_FALSE(output.run);
  CHECK(output.out == "out");
  CHECK(output.err == "err");
}

TEST_CASE("an output goes on in its order when it is old, or long, or called for") {
  for (const int why : {0, 1, 2, 3}) {
    const auto run = std::make_shared<NotedRun>();
    run->called = why == 2;
    Transcript transcript(run, why == 3 ? 3 : 1'000'000);
    transcript.write(Channel::out, "one");
    CHECK(run->is_open == (why == 2));
    if (why == 0) transcript.on_time(transcript.next_ms());
    const std::string more(why == 1 ? Transcript::kInMemoryBytes : 1, 'x');
    transcript.write(Channel::out, more);
    transcript.write(Channel::err, "two");
    REQUIRE(run->is_open);
    CHECK(transcript.next_ms() == kNever);
    CHECK(run->texts[0] == "one" + more);
    CHECK(run->texts[1] == "two");
    run->room = false;
    CHECK_FALSE(transcript.has_room(Channel::out));
    CHECK(transcript.close());
    CHECK(run->is_closed);
    CHECK(transcript.take().run == run);
  }
}

TEST_CASE("an output is not handed on before its time") {
  const auto run = std::make_shared<NotedRun>();
  Transcript transcript(run, 1'000'000);
  transcript.write(Channel::out, "one");
  transcript.on_time(transcript.next_ms() - 1);
  CHECK_FALSE(run->is_open);
}

TEST_CASE("where nobody can read it, the beginning stays and the rest is counted") {
  const auto run = std::make_shared<NotedRun>();
  run->opens = false;
  Transcript transcript(run, 1'000'000);
  for (int i = 0; i < 3; ++i) transcript.write(Channel::out, std::string(Transcript::kInMemoryBytes, 'x'));
  transcript.write(Channel::err, "err");
  CHECK(transcript.has_room(Channel::out));
  CHECK(transcript.fault() == "the disk is full");
  const JobOutput output = transcript.take();
  CHECK(output.out.size() == Transcript::kInMemoryBytes);
  CHECK(output.out_gap == Gap{Transcript::kInMemoryBytes, 2 * Transcript::kInMemoryBytes});
  CHECK(output.err == "err");
  CHECK(output.err_gap == Gap{});
}

TEST_CASE("what keeps nothing takes nothing") {
  Transcript transcript;
  transcript.write(Channel::out, "gone");
  CHECK_FALSE(transcript.keeps());
  CHECK(transcript.has_room(Channel::out));
  CHECK(transcript.take().out == "");
}

}  // namespace fq::test
