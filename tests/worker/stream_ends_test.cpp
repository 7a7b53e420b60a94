// stream_ends_test - when a command that stays up is told to end, and what becomes of its open messages.

// System.
#include <sys/prctl.h>
#include <sys/wait.h>
// Tests.
#include "tests/worker/stream_of.h"

namespace fq::test {

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

TEST_CASE("a stream that was stopped gives back what is open") {
  StreamOf stream("exec cat >/dev/null");
  CHECK(stream.flush() == "");
  CHECK(stream.close_input() == "");
  CHECK(stream.ends(true) == "release 1.1; release 2.1; release 3.1");
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

}  // namespace fq::test
