// job_stream_test - a command that stays up: what it says is a verdict on an open message, or costs nobody
// anything.

// System.
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <numeric>
// fq, below us.
#include "core/worker/process/job_group.h"
// Tests.
#include "tests/worker/stream_of.h"

namespace fq::test {

namespace {

using namespace std::string_literals;

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

TEST_CASE("what it said behind a heap of lines that are none counts too") {
  // More than a pipe holds by itself: it is made larger, so that the command can end before it is read.
  StreamOf stream(
      "perl -e 'fcntl(STDOUT, 1031, 1 << 20) or die; print \"garbage\\n\" x 60000, \"ack 2.1\\n\"'");
  const std::string decided = stream.ends();
  CHECK(decided.starts_with("ack 2.1; "));
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
