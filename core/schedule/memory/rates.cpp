#include "core/schedule/memory/rates.h"

// System.
#include <algorithm>

namespace fq {
namespace {

/// Counted so far at one time; differences are taken modulo 2^32.
struct Counted {
  int64_t at_ms;
  uint32_t pushed, popped, acked;
};

Counted at(const RateSample& sample) { return {sample.at_ms, sample.pushed, sample.popped, sample.acked}; }

Counted now_of(const ScheduleRoot& root, int64_t now_ms) {
  const RootCounters& counters = root.counters;
  return {now_ms, static_cast<uint32_t>(counters.pushed), static_cast<uint32_t>(counters.popped),
          static_cast<uint32_t>(counters.acked)};
}

double a_second(uint32_t later, uint32_t sooner, uint32_t between, double part, int64_t window_ms) {
  const double counted = static_cast<uint32_t>(later - sooner) - part * static_cast<double>(between);
  return std::max(0.0, counted) * 1000.0 / static_cast<double>(window_ms);
}

}  // namespace

void rates_sample(Txn& txn, ScheduleRoot& root, int64_t now_ms) {
  SharedRates& rates = root.rates;
  RateSample& sample = rates.samples[rates.taken % SharedRates::kSamples];
  const Counted now = now_of(root, now_ms);
  put(txn, sample.at_ms, now.at_ms);
  put(txn, sample.pushed, now.pushed);
  put(txn, sample.popped, now.popped);
  put(txn, sample.acked, now.acked);
  put(txn, rates.next_ms, now_ms + kRateSampleMs);
  put(txn, rates.taken, rates.taken + 1);
}

RatesOver rates_over(const ScheduleRoot& root, int64_t window_ms, int64_t now_ms) {
  const SharedRates& rates = root.rates;
  const Counted now = now_of(root, now_ms);
  const int64_t from_ms = now_ms - window_ms;
  // The window begins between `before` and `after`; with no sample before it, at the first one.
  Counted after = now;
  Counted before = now;
  const uint32_t known = std::min<uint32_t>(rates.taken, SharedRates::kSamples);
  for (uint32_t back = 1; back <= known; ++back) {
    after = before;
    before = at(rates.samples[(rates.taken - back) % SharedRates::kSamples]);
    if (before.at_ms <= from_ms) break;
  }
  // All that was counted after a sample was counted within so long.
  const int64_t span_ms = std::min(time_between(before.at_ms, after.at_ms), kRateSampleMs);
  const int64_t into_ms =
      std::clamp<int64_t>(time_between(before.at_ms, from_ms), 0, std::max<int64_t>(span_ms, 0));
  const double part = span_ms > 0 ? static_cast<double>(into_ms) / static_cast<double>(span_ms) : 0.0;
  return {a_second(now.pushed, before.pushed, after.pushed - before.pushed, part, window_ms),
          a_second(now.popped, before.popped, after.popped - before.popped, part, window_ms),
          a_second(now.acked, before.acked, after.acked - before.acked, part, window_ms)};
}

}  // namespace fq
