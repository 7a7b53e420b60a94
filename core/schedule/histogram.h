// histogram - how long things took, by powers of two.
//
// Bucket 0 is below 1 ms, bucket k from 2^(k-1) up to 2^k ms, the last is open. A tenant's buckets are
// bytes: when one is full all are halved, so they speak of recent times and stay small; the queue's are
// wide and never halved.
#pragma once

// System.
#include <algorithm>
#include <bit>
#include <optional>
// fq, this room.
#include "core/schedule/region.h"

namespace fq {

constexpr uint32_t histogram_bucket(uint64_t ms) {
  return std::min(static_cast<uint32_t>(std::bit_width(ms)), Histogram::kBuckets - 1);
}

/// One step (half a step's stores where all are halved).
inline void histogram_note(Txn& txn, Histogram& histogram, uint64_t ms) {
  const uint32_t bucket = histogram_bucket(ms);
  if (histogram.bucket[bucket] == UINT8_MAX) {
    for (auto& each : histogram.bucket) put(txn, each, static_cast<uint8_t>(each.get() / 2));
  }
  add_to(txn, histogram.bucket[bucket], 1);
  const auto capped = static_cast<uint32_t>(std::min<uint64_t>(ms, UINT32_MAX));
  if (capped > histogram.max_ms) txn.set(histogram.max_ms, capped);
}

inline void histogram_note(Txn& txn, QueueHistogram& histogram, uint64_t ms) {
  add_to(txn, histogram.bucket[histogram_bucket(ms)], 1);
  if (ms > histogram.max_ms) txn.set(histogram.max_ms, ms);
}

/// An upper bound of the time that this part (0 to 1) of all stayed within; none before the first.
template <class AnyHistogram>
std::optional<uint64_t> histogram_percentile_ms(const AnyHistogram& histogram, double part) {
  uint64_t all = 0;
  for (const auto& each : histogram.bucket) all += each.get();
  if (all == 0) return std::nullopt;
  const double wanted = part * static_cast<double>(all);
  uint64_t seen = 0;
  for (uint32_t i = 0; i + 1 < Histogram::kBuckets; ++i) {
    seen += histogram.bucket[i].get();
    if (static_cast<double>(seen) >= wanted) {
      const uint64_t bound = uint64_t{1} << i;
      return std::min<uint64_t>(bound, histogram.max_ms.get());
    }
  }
  return histogram.max_ms.get();
}

}  // namespace fq
