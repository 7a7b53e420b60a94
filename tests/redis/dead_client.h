// dead_client - a client that took something and is dead.
#pragma once

// System.
#include <sys/wait.h>
#include <unistd.h>
// Tests.
#include "tests/redis/fixture.h"

namespace fq::test {

/// Takes a message in a process that is dead then, and has said nothing of that.
inline void take_and_die(const TestServer& server, FakeClock& clock) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto queue = open_on(told_time_engine(), server.spool(), &clock);
    ::_exit(queue->lease({}).value().deliveries.size() == 1 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
}

}  // namespace fq::test
