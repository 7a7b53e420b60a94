// survivor - the next process after a death: it goes on at once, and holds all that it finds to account.
#pragma once

// Tests.
#include "tests/crash/scene.h"

namespace fq::test {

struct Survival {
  std::string faults;       // a line each; empty: every invariant holds
  uint64_t recoveries = 0;  // of the state lock, since the queue was made
};

/// Opens the scene's queue in a process of its own, works in it and empties it.
Survival survive(Scene& scene);

}  // namespace fq::test
