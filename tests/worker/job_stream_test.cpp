// job_stream_test - a command that stays up: what it says is a verdict on an open message, or costs nobody
// anything.

// System.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <numeric>
// fq, below us.
#include "core/base/clock.h"
#include "core/worker/process/job_group.h"
#include "core/worker/jobs/job_stream.h"
// Tests.
#include "tests/worker/fixture.h"

namespace fq::test {

namespace {

using namespace std::string_literals;

/// A stream whose command is a shell script, with messages 1, 2 and so on open in it.
class StreamOf {
 public:
  explicit StreamOf(const std::string& script, uint64_t open = 3) : around_(options_of(script)) {
    stream_ = std::move(JobStream::start(around_.shop(), "q", 1, nullptr)).value();
    for (uint64_t id = 1; id <= open; ++id) stream_->give(around_.shop(), arrival(id));
  }
  JobStream& stream() { return *stream_; }
  void give_with_limit(uint64_t id, uint32_t attempt = 1) {
    Arrival one = arrival(id);
    one.delivery.timeout_ms = 1'000;
    one.delivery.attempt = attempt;
    stream_->give(around_.shop(), std::move(one));
  }
  /// Messages whose lines are so long.
  void give_long(uint64_t count, size_t line_bytes) {
    around_.voice.line = [line_bytes, this](const std::string&, const Delivery&) {
      ++lines_made_;
      return Result<std::string>(std::string(line_bytes - 1, 'x') + "\n");
    };
    for (uint64_t id = 1; id <= count; ++id) stream_->give(around_.shop(), arrival(id));
  }
  void give_unreadable(uint64_t id) {
    around_.voice.line = [](const std::string&, const Delivery&) {
      return Result<std::string>(Error{ErrorKind::bad_data, "gone"});
    };
    stream_->give(around_.shop(), arrival(id));
  }
  size_t lines_made() const { return lines_made_; }
  std::string flush() { return text_of(stream_->flush(around_.shop())); }
  std::string close_input() { return text_of(stream_->close_input()); }
  /// Until the command has written something.
  void await_word() const {
    pollfd ready{stream_->out(), POLLIN, 0};
    REQUIRE(::poll(&ready, 1, 20'000) == 1);
  }
  /// "ack 1.1; bury 2.1 reason": what it has decided when its output has ended.
  std::string decides() {
    std::vector<VerdictOrder> orders;
    while (stream_->out() >= 0) {
      await_word();
      for (VerdictOrder& each : stream_->read_verdicts(around_.shop())) orders.push_back(std::move(each));
    }
    return text_of(orders);
  }
  /// Its process ends, at `now_ms`.
  std::string end(int64_t now_ms, bool stopped = false) {
    return text_of(stream_->note_end(around_.shop(), stopped, now_ms));
  }
  std::string finish() { return text_of(stream_->finish(around_.shop())); }
  /// All of that.
  std::string ends(bool stopped = false) {
    const std::string said = end(system_clock().boot_ms(), stopped);
    while (!stream_->is_gone(system_clock().boot_ms())) {
    }
    const std::string left = finish();
    return said + (said.empty() || left.empty() ? "" : "; ") + left;
  }
  /// How long each has run whose verdict was given, in that order.
  const std::vector<uint64_t>& runs_us() const { return runs_us_; }
  std::string said() const { return around_.err_file.text(); }
  size_t lines_said() const {
    const std::string text = said();
    return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  }

 private:
  static Options options_of(const std::string& script) {
    Options options;
    options.shell = true;
    options.command = {script};
    return options;
  }
  std::string text_of(const std::vector<VerdictOrder>& orders) {
    constexpr const char* kNames[] = {"ack", "retry", "release", "bury"};
    std::string text;
    for (const VerdictOrder& each : orders) {
      if (each.run_us) runs_us_.push_back(*each.run_us);
      text +=
          (text.empty() ? ""s : "; "s) + kNames[static_cast<int>(each.verdict)] + " " + each.receipt.text();
      if (each.verdict == Verdict::release && each.delay_ms > 0)
        text += " in " + std::to_string(each.delay_ms);
      if (!each.reason.empty()) text += " " + each.reason;
    }
    return text;
  }
  Surroundings around_;
  std::unique_ptr<JobStream> stream_;
  size_t lines_made_ = 0;
  std::vector<uint64_t> runs_us_;
};

/// A script that writes exactly these bytes.
class Spoken {
 public:
  explicit Spoken(const std::string& bytes)
      : path_(std::filesystem::temp_directory_path() / ("fq-stream-" + std::to_string(::getpid()))) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~Spoken() { std::filesystem::remove(path_); }
  std::string script() const { return "cat '" + path_.string() + "'"; }

 private:
  std::filesystem::path path_;
};

/// What becomes of three open messages when the command says that.
struct Said {
  std::string decided;
  size_t open = 0;
  size_t told = 0;
  std::string text;
};
Said says(const std::string& bytes) {
  const Spoken file(bytes);
  StreamOf stream(file.script());
  Said said;
  said.decided = stream.decides();
  said.open = stream.stream().open_count();
  said.told = stream.lines_said();
  said.text = stream.said();
  stream.ends(true);
  return said;
}

}  // namespace

TEST_CASE("verdicts in any order, each for its own message") {
  const Said said = says("bury 3.1 for a reason\nack 1.1\nrelease 2.1 5s\n");
  CHECK(said.decided == "bury 3.1 for a reason; ack 1.1; release 2.1 in 5000");
  CHECK(said.open == 0);
  CHECK(says("retry 1.1 5s why not\nretry 2.1\nrelease 3.1\n").decided ==
        "retry 1.1 why not; retry 2.1; release 3.1");
}

TEST_CASE("open messages share the time of their command, and none is counted twice") {
  const Stopwatch all;
  // It begins when it has a line, so that no time of its own was before that of its messages. Its sleeps are
  // the run times that are counted.
  StreamOf stream("read -r _; sleep 0.05; echo ack 2.1; sleep 0.02; echo retry 1.1", 4);
  stream.flush();
  stream.decides();
  stream.ends();
  // Two by their verdicts, two that were left open.
  const std::vector<uint64_t>& runs = stream.runs_us();
  REQUIRE(runs.size() == 4);
  CHECK(runs[0] >= 50'000);
  // The first verdict may have been read late.
  CHECK(runs[0] + runs[1] >= 70'000);
  CHECK(std::accumulate(runs.begin(), runs.end(), uint64_t{0}) <= all.us());
}

TEST_CASE("a line that is no verdict is told, ignored, and costs nobody anything") {
  const std::string bad[] = {"",
                             " ",
                             "ack",
                             "ack ",
                             "ACK 1.1",
                             " ack 1.1",
                             "ack  1.1",
                             "ack 1",
                             "ack 1.2",
                             "ack 4.1",
                             "ack 1.1x",
                             "ack 1.1 more",
                             "ack\t1.1",
                             "ack 1.1\r\r",
                             "ack {}",
                             "{\"ack\":\"1.1\"}",
                             "done 1.1",
                             "extend 1.1 5s",
                             "release 1.1 5",
                             "release 1.1 soon",
                             "release 1.1 5s more",
                             "release 1.1 -5s",
                             "release 1.1  5s",
                             "retry 1.1 reason",
                             "retry 1.1 99999999d",
                             "bury",
                             "bury 9.9 reason",
                             "ack 1.1 2.1",
                             "\"ack 1.1\"",
                             "ack 1.1\0"s,
                             "\0"s,
                             "a\0ck 1.1"s,
                             "\xff\xfe",
                             "ack \xff",
                             "\x1b[2Jack 1.1",
                             "1.1 ack"};
  for (const std::string& line : bad) {
    INFO("'" << line << "'");
    const Said said = says(line + "\nack 2.1\n");
    CHECK(said.decided == "ack 2.1");
    CHECK(said.open == 2);
    CHECK(said.told == 1);
  }
}

TEST_CASE("a heap of such lines is told in a few") {
  std::string heap;
  for (int i = 0; i < 1'000; ++i) heap += "garbage\n";
  const Said said = says(heap + "ack 2.1\n");
  CHECK(said.decided == "ack 2.1");
  CHECK(said.told == 9);
  CHECK(said.text.find("992 more such lines") != std::string::npos);
}

TEST_CASE("a second verdict on a message is one too many") {
  const Said said = says("ack 1.1\nbury 1.1 after all\n");
  CHECK(said.decided == "ack 1.1");
  CHECK(said.text.find("not a verdict on an open message: 'bury 1.1 after all'") != std::string::npos);
}

TEST_CASE("a verdict on a message that another process has is not taken") {
  const Spoken file("ack 1.1\nack 2.1\n");
  StreamOf other("cat >/dev/null", 2);
  StreamOf stream(file.script(), 1);
  CHECK(stream.decides() == "ack 1.1");
  CHECK(other.stream().open_count() == 2);
  CHECK(stream.lines_said() == 1);
  other.close_input();
  other.ends(true);
  stream.ends(true);
}

TEST_CASE("a line without end is told once, and what ends it is no verdict") {
  for (const size_t size : {65'536U, 65'537U, 131'072U, 200'000U, 1'000'000U}) {
    INFO(size << " bytes");
    const Said said = says(std::string(size, 'x') + "ack 1.1\nack 2.1\n");
    CHECK(said.decided == "ack 2.1");
    CHECK(said.told == 1);
  }
  // The limit itself cuts just before a word that reads as a verdict.
  for (size_t size = 65'530; size < 65'546; ++size) {
    const Said said = says(std::string(size, 'x') + "\n" + std::string(size, '\0') + "ack 1.1\nack 2.1\n");
    CHECK(said.decided == "ack 2.1");
    CHECK(said.told == 2);
  }
}

TEST_CASE("a line that the end of the command has cut off is not taken for a shorter one") {
  const Said said = says("ack 1.1\nack 2.1");
  CHECK(said.decided == "ack 1.1");
  CHECK(said.open == 2);
  CHECK(said.text.find("'ack 2.1'") != std::string::npos);
}

TEST_CASE("a long reason is told as it is kept") {
  const std::string reason(60'000, 'r');
  const std::string kept(1'024, 'r');
  const Said said = says("bury 1.1 " + reason + "\n");
  CHECK(said.decided == "bury 1.1 " + reason);
  CHECK(said.text.find(": " + kept + "; buried") != std::string::npos);
}

TEST_CASE("a command for the shell that begins with a dash is no option of the shell") {
  StreamOf stream("-v 2>/dev/null; echo ack 1.1", 1);
  CHECK(stream.decides() == "ack 1.1");
  stream.ends();
}

TEST_CASE("a line may end as on Windows") {
  CHECK(says("ack 1.1\r\nrelease 2.1 5s\r\nbury 3.1 why not\r\n").decided ==
        "ack 1.1; release 2.1 in 5000; bury 3.1 why not");
}

TEST_CASE("what a command said before its end counts, what it left open is retried") {
  StreamOf stream("printf 'ack 2.1\\n'; echo last words >&2; exit 3");
  CHECK(stream.ends() ==
        "ack 2.1; retry 1.1 the command ended (exit 3); retry 3.1 the command ended (exit 3)");
}

TEST_CASE("of each message that a command left open is said whether it is run again or buried") {
  StreamOf stream("exit 3", 1);
  stream.give_with_limit(2, 5);
  CHECK(stream.ends() == "retry 1.1 the command ended (exit 3); retry 2.1 the command ended (exit 3)");
  const std::string said = stream.said();
  CHECK(said.find("message 1 of tenant 'a': the command ended (exit 3); again in ") != std::string::npos);
  CHECK(said.find("message 2 of tenant 'a': the command ended (exit 3); buried after attempt 5 of 5") !=
        std::string::npos);
  CHECK(said.starts_with("the command ended with 2 open messages\n"));
}

TEST_CASE("what it said behind a heap of lines that are none counts too") {
  // More than a pipe holds by itself: it is made larger, so that the command can end before it is read.
  StreamOf stream(
      "perl -e 'fcntl(STDOUT, 1031, 1 << 20) or die; print \"garbage\\n\" x 60000, \"ack 2.1\\n\"'");
  const std::string decided = stream.ends();
  CHECK(decided.starts_with("ack 2.1; "));
}

TEST_CASE("a stream that was stopped gives back what is open") {
  StreamOf stream("exec cat >/dev/null");
  CHECK(stream.flush() == "");
  CHECK(stream.close_input() == "");
  CHECK(stream.ends(true) == "release 1.1; release 2.1; release 3.1");
}

TEST_CASE("a stream that is stopped finishes the line that its command reads, and takes back the others") {
  const NoPipeSignal ignored;
  StreamOf of("exec head -c 150 >/dev/null", 0);
  of.give_long(20, 100'000);
  CHECK(of.flush() == "");  // a pipe is smaller than a line
  JobStream& stream = of.stream();
  CHECK(of.close_input().starts_with("release 2.1; release 3.1"));
  CHECK(stream.open_count() == 1);
  CHECK_FALSE(stream.listens());
  while (stream.in() >= 0) {
    pollfd ready{stream.in(), POLLOUT, 0};
    REQUIRE(::poll(&ready, 1, 20'000) == 1);
    of.flush();
  }
  CHECK(of.ends(true) == "release 1.1");
}

TEST_CASE("only as many messages become lines as a slow command will soon read") {
  StreamOf of("read -r x; exec cat >/dev/null", 0);
  of.give_long(100, 300'000);
  of.flush();
  CHECK(of.lines_made() <= 6);
  CHECK(of.stream().open_count() == 100);
  while (of.stream().wants_to_write()) {
    pollfd ready{of.stream().in(), POLLOUT, 0};
    REQUIRE(::poll(&ready, 1, 20'000) == 1);
    of.flush();
  }
  CHECK(of.lines_made() == 100);
  of.close_input();
  of.ends(true);
}

TEST_CASE("a message whose payload cannot be read is buried, and the others are not held up") {
  StreamOf of("exec cat", 0);
  of.give_unreadable(1);
  of.give_unreadable(2);
  CHECK(of.flush() == "bury 1.1 gone; bury 2.1 gone");
  CHECK(of.lines_said() == 2);
  CHECK(of.stream().open_count() == 0);
  of.close_input();
  of.ends(true);
}

TEST_CASE("a command that lives on without its input has a grace time, then TERM, then KILL") {
  StreamOf of("trap '' TERM; exec <&-; echo deaf; while :; do sleep 1000; done");
  JobStream& stream = of.stream();
  of.await_word();
  CHECK(stream.listens());
  CHECK(stream.next_ms() == kNever);
  stream.note_input_closed();
  CHECK_FALSE(stream.listens());
  CHECK(stream.next_ms() == 0);
  stream.on_time(100, 50);
  CHECK(stream.next_ms() == 150);
  stream.on_time(149, 50);
  CHECK(stream.next_ms() == 150);
  stream.on_time(150, 50);  // TERM
  CHECK(stream.next_ms() == 200);
  stream.on_time(200, 50);
  CHECK(stream.next_ms() == kNever);
  CHECK(of.ends().starts_with("retry 1.1 the command ended (signal 9)"));
}

TEST_CASE("a stream whose message asks for more time when its command is told to end goes on") {
  StreamOf of("trap caught=1 TERM; echo deaf; while [ -z \"$caught\" ]; do sleep 0.01; done; exec cat", 0);
  JobStream& stream = of.stream();
  of.await_word();
  of.give_with_limit(1);
  of.give_with_limit(2);
  of.flush();
  const int64_t over_ms = stream.next_ms() + 1'000;
  stream.on_time(over_ms, 50);
  REQUIRE(stream.next_ms() == over_ms + 50);
  stream.extend(Receipt("1.1"), over_ms + 5'000);
  CHECK(stream.next_ms() == over_ms + 50);  // the other one is over its time still
  SECTION("once all that are over their time have asked") {
    stream.extend(Receipt("2.1"), over_ms + 9'000);
    CHECK(stream.next_ms() == over_ms + 5'000);
    CHECK(stream.listens());
  }
  SECTION("or have ended") {
    CHECK(stream.note_settled(Receipt("2.1")));
    CHECK(stream.next_ms() == over_ms + 5'000);
    CHECK(stream.listens());
  }
  SECTION("and is told to end again when that is over, too") {
    stream.extend(Receipt("2.1"), over_ms + 9'000);
    stream.on_time(over_ms + 5'000, 50);
    CHECK(stream.next_ms() == over_ms + 5'050);
    CHECK_FALSE(stream.listens());
  }
  SECTION("but takes no more where its input was closed meanwhile") {
    of.close_input();
    stream.extend(Receipt("2.1"), over_ms + 9'000);
    CHECK(stream.next_ms() == over_ms + 5'000);
    CHECK_FALSE(stream.listens());
  }
  stream.kill();
  of.ends(true);
}

TEST_CASE("no more time is given to a stream that is ended since it lives on without its input") {
  StreamOf of("trap '' TERM; exec <&-; echo deaf; while :; do sleep 1000; done", 0);
  JobStream& stream = of.stream();
  of.await_word();
  of.give_with_limit(1);
  const int64_t over_ms = stream.next_ms();
  stream.note_input_closed();
  stream.on_time(over_ms - 20, 20);
  stream.on_time(over_ms, 20);  // TERM, for both
  stream.extend(Receipt("1.1"), over_ms + 9'000);
  CHECK(stream.next_ms() == over_ms + 20);
  stream.kill();
  of.ends(true);
}

TEST_CASE("a command that is being ended takes no more messages, also when it was killed") {
  StreamOf of("trap '' TERM; echo deaf; while :; do sleep 1000; done", 0);
  JobStream& stream = of.stream();
  of.await_word();
  of.give_with_limit(1);
  const int64_t over_ms = stream.next_ms();
  CHECK(stream.listens());
  stream.on_time(over_ms, 50);
  CHECK_FALSE(stream.listens());
  stream.on_time(over_ms + 50, 50);
  CHECK_FALSE(stream.listens());
  CHECK(of.ends() == "retry 1.1 timed out");
}

TEST_CASE("of a stream that is stopped, messages that are over their time have timed out") {
  StreamOf of("trap '' TERM; echo deaf; while :; do sleep 1000; done", 1);
  of.await_word();
  of.give_with_limit(2);
  of.flush();
  of.stream().on_time(of.stream().next_ms(), 50);
  of.close_input();
  of.stream().kill();
  CHECK(of.ends(true) == "release 1.1; retry 2.1 timed out");
  CHECK(of.said().find("message 2 of tenant 'a': timed out; again in ") != std::string::npos);
  CHECK(of.said().find("message 1 ") == std::string::npos);
}

TEST_CASE("a command is over at once, and its messages are run again when what it left is gone") {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // what it left is ours to reap
  StreamOf of("sleep 1000 >/dev/null 2>&1 & echo ack 2.1; exit 3", 2);
  JobStream& stream = of.stream();
  const int64_t now_ms = system_clock().boot_ms();
  CHECK(of.end(now_ms) == "ack 2.1");
  CHECK_FALSE(stream.is_gone(now_ms));
  CHECK(stream.next_ms() == now_ms + 1);
  CHECK_FALSE(stream.listens());
  CHECK_FALSE(stream.wants_to_write());
  SECTION("also when the worker is told to stop meanwhile") { CHECK(of.close_input() == ""); }
  SECTION("or those messages are over their time meanwhile") { stream.on_time(now_ms + 5'000, 50); }
  while (::waitpid(-stream.process().pid, nullptr, 0) > 0) {
  }
  CHECK(stream.is_gone(now_ms + 1));
  CHECK(of.finish() == "retry 1.1 the command ended (exit 3)");
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_CASE("what a command leaves behind and writes for ever is not waited for") {
  for (const char* flood : {"yes abcde", "yes | tr -d '\\n'", "yes ack 9.9"}) {
    INFO(flood);
    StreamOf stream("("s + flood + ") 2>/dev/null & exit 0");
    CHECK(stream.ends().starts_with("retry 1.1"));
  }
}

TEST_CASE("a command that reads nothing is not waited for either") {
  StreamOf stream("exec sleep 1000", 0);
  Arrival large = arrival(1);
  large.delivery.receipt = Receipt(std::string(1 << 20, 'r'));
  Surroundings around(Options{});
  stream.stream().give(around.shop(), std::move(large));
  stream.flush();
  CHECK(stream.stream().wants_to_write());
  signal_group(stream.stream().process(), SIGKILL);
  CHECK(stream.ends().find("signal 9") != std::string::npos);
}

}  // namespace fq::test
