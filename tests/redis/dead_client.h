// dead_client - a client that took something and is dead.
#pragma once

// System.
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

}  // namespace fq::test
