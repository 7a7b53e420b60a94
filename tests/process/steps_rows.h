// steps_rows - tables of calls, and what is held against each: the steps that it takes in ever longer queues.
#pragma once

// System.
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <vector>
// fq, below us.
#include "core/base/step_count.h"
// Tests.
#include "tests/process/steps_scene.h"

#ifdef FQ_FAULT_POINTS

namespace fq::test {

inline constexpr uint64_t kHoldMax = 65'536;  // chosen: a quarter of a millisecond, about
// What may take longer, and is no more for that in a large queue: 32 transactions of timers, 512 turns by
// rank.
inline constexpr uint64_t kLongHoldMax = 196'608;
inline constexpr double kStepsMax = 64;  // chosen: about three times what the dearest row takes of n log n
// Of ten times as many messages: n log n is 12.5 to 13.3 times as much.
inline constexpr double kGrowthMax = 20;

enum class Grows {
  with_queue,  // it may look at the n messages, n log n in all
  no,          // it does one thing, whatever n is
};

struct Row {
  const char* call;
  Grows grows;
  std::function<void(Scene&)> act;
  uint64_t hold_max = kHoldMax;
};

/// Rows on one scene, in their order: those that change nothing first.
struct Group {
  const char* scene;
  std::function<void(Scene&)> set_up;
  std::vector<Row> rows;
};

/// The rows of steps_test and of steps_beside_test.
std::vector<Group> groups();
std::vector<Group> groups_beside();

struct Measured {
  uint64_t steps = 0;
  uint64_t shared = 0;  // of these, of housekeeping
  uint64_t most_held = 0;
};

inline Measured measure(Scene& scene, const Row& row) {
  const uint64_t before = StepCount::steps;
  StepCount::hold_most = 0;
  StepCount::shared = 0;
  row.act(scene);
  return {StepCount::steps - before, StepCount::shared, StepCount::hold_most};
}

inline void check_steps(const std::vector<Group>& groups) {
  const bool shows = std::getenv("FQ_SHOW_STEPS") != nullptr;
  for (const Group& group : groups) {
    std::vector<double> before(group.rows.size(), 0);  // steps with a tenth of the messages
    for (const size_t n : {size_t{1'000}, size_t{10'000}, size_t{100'000}}) {
      Scene scene;
      scene.n = n;
      scene.q.set_policy({.sync = SyncMode::lazy});
      group.set_up(scene);
      for (size_t i = 0; i < group.rows.size(); ++i) {
        const Row& row = group.rows[i];
        const auto [steps, shared, held] = measure(scene, row);
        const auto taken = static_cast<double>(steps);
        const double log = std::log2(static_cast<double>(n));
        const double work = row.grows == Grows::with_queue ? static_cast<double>(n) * log : 16 * log;
        INFO(group.scene << ", " << n << ": " << row.call << ": " << steps << " steps, " << held << " held");
        if (shows)
          std::cout << group.scene << '\t' << n << '\t' << row.call << '\t' << steps << '\t' << taken / work
                    << '\t' << held << '\n';
        CHECK(taken <= kStepsMax * work);
        // Housekeeping comes when there is enough of it: it is within the bound, and grows by leaps.
        const double own = taken - static_cast<double>(shared);
        CHECK((before[i] == 0 || own <= std::max(work, kGrowthMax * before[i])));
        CHECK(held <= row.hold_max);
        before[i] = own;
      }
    }
  }
}

}  // namespace fq::test

#endif
