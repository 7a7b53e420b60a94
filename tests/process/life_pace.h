// life_pace - what a piece of work that is always the same takes: an old queue is held against a young one.
//
// In steps (core/base/step_count.h), which are the same on any machine at any time, and in the process's time
// of the processor, with that of the kernel.
#pragma once

// System.
#include <algorithm>
// fq, below us.
#include "core/base/step_count.h"
// Tests.
#include "tests/process/real_fq.h"
#include "tests/processor_time.h"

namespace fq::test {

inline constexpr double kSlowerMax = 1.2;

struct Pace {
  uint64_t operations = 0;
  uint64_t steps = 0;
  double processor_s = 0;
};

/// Messages of a tenant of their own are pushed, leased and acked. None: one of them was not.
inline std::optional<Pace> work_once(Queue& queue, uint64_t operations) {
  constexpr size_t kAtOnce = 50;
  const std::string payload(200, 'p');
  const std::vector<NewMessage> batch(kAtOnce, NewMessage{.tenant = "pace", .payload = as_bytes(payload)});
  Pace pace;
  const double began_s = processor_s();
#ifdef FQ_FAULT_POINTS
  const uint64_t steps = StepCount::steps;
#endif
  for (; pace.operations < operations; pace.operations += 3 * kAtOnce) {
    const auto pushed = queue.push(batch, {.durability = Durability::lazy});
    if (!pushed.ok() || pushed->error) return std::nullopt;
    const auto leased = queue.lease({.want = kAtOnce, .tenant = "pace"});
    if (!leased.ok() || leased->deliveries.size() != kAtOnce) return std::nullopt;
    std::vector<Settle> acks;
    for (const Delivery& each : leased->deliveries) acks.push_back({.receipt = each.receipt});
    const auto settled = queue.settle(acks);
    if (!settled.ok() || settled->error) return std::nullopt;
  }
#ifdef FQ_FAULT_POINTS
  pace.steps = StepCount::steps - steps;
#endif
  pace.processor_s = processor_s() - began_s;
  return pace;
}

/// The best of some: what is beside it takes time, and fills caches. Before it as many messages end as a queue
/// remembers, which a young one has not: each end then takes the place of another.
inline std::optional<Pace> pace_of(Queue& queue, uint64_t operations) {
  constexpr uint64_t kRemembered = 65'536;
  if (!work_once(queue, 3 * kRemembered)) return std::nullopt;
  std::optional<Pace> best = work_once(queue, operations);
  for (int again = 0; best && again < 4; ++again) {
    const std::optional<Pace> pace = work_once(queue, operations);
    if (!pace) return std::nullopt;
    best->steps = std::min(best->steps, pace->steps);
    best->processor_s = std::min(best->processor_s, pace->processor_s);
  }
  return best;
}

}  // namespace fq::test
