// dead_client - a client that took something and is dead.
#pragma once

// System.
#include <algorithm>
#include <sys/wait.h>
#include <unistd.h>
// Tests.
#include "tests/redis/fixture.h"

namespace fq::test {

/// Takes messages in a process that is dead then, and has said nothing of that.
inline void take_and_die(const TestServer& server, FakeClock& clock, size_t count = 1) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto queue = open_on(told_time_engine(), server.spool(), &clock);
    size_t left = count;
    for (size_t taken = 1; taken > 0 && left > 0; left -= taken)
      taken = queue->lease({.want = left}).value().deliveries.size();
    ::_exit(left == 0 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
}

/// A call of a process that has none of ours.
inline void somebody_calls(const TestServer& server, FakeClock& clock) {
  const std::string tag = "fq1:fq:{default:0:0}:", now = std::to_string(clock.boot_ms());
  const std::string function = std::string(told_time_library().name) + "_change";
  command(server, {"HSET", tag + "h", "clock", now});
  const std::string run = command(server, {"HGET", tag + "h", "run"}).text;
  const Reply reply =
      command(server, {"FCALL", function, "2", tag + "h", tag + "c", run, "another", "cancel"});
  REQUIRE(reply.kind != Reply::Kind::error);
}

/// Others call meanwhile: where nobody does, the server may have stood still.
inline void time_goes_by(const TestServer& server, FakeClock& clock, int64_t ms) {
  for (constexpr int64_t kStepMs = 5'000; ms > 0; ms -= kStepMs) {
    somebody_calls(server, clock);
    clock.advance(std::min(ms, kStepMs));
  }
}

}  // namespace fq::test
