// rates - the pushes, pops and acks a second, over the last minutes.
//
// Rates add no counters of their own: a process that changes the queue 5 s or more after the last sample
// first notes the counters as they are by then. So all that was counted after a sample was counted within 5 s
// of it, however long the queue was idle after that, and between two samples it is spread evenly. A rate over
// a minute is the count of the last minute divided by a minute, also while the queue is younger. Times are of
// the boot clock.
#pragma once

// fq, this room.
#include "core/schedule/memory/region.h"

namespace fq {

inline constexpr int64_t kRateSampleMs = 5'000;

/// Events a second.
struct RatesOver {
  double pushed = 0;
  double popped = 0;
  double acked = 0;
};

[[gnu::noinline]] void rates_sample(Txn& txn, ScheduleRoot& root, int64_t now_ms);

/// Before every change of the counters, with its time. One look, and six stores every 5 s.
inline void rates_note(Txn& txn, ScheduleRoot& root, int64_t now_ms) {
  // Due, or further away than it can be: a damaged time must not end the samples for good.
  const uint64_t left_ms =
      static_cast<uint64_t>(root.rates.next_ms.get()) - static_cast<uint64_t>(now_ms) - 1;
  if (left_ms >= kRateSampleMs) rates_sample(txn, root, now_ms);
}

/// Over the last `window_ms`, at most 15 minutes.
RatesOver rates_over(const ScheduleRoot& root, int64_t window_ms, int64_t now_ms);

}  // namespace fq
