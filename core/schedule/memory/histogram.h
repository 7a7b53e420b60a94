// histogram - the distribution of times: of a whole queue, or of one tenant.
//
// A queue's is log-linear: below 32 ms a bucket is one millisecond, above each power of two is cut into 16,
// and a bucket speaks by its middle, so no time that is told is off by more than 1/32. It is never halved. A
// time below 1 ms is told as 0: the clock of the schedule counts whole milliseconds.
//
// A tenant's is a small summary by powers of two: bucket 0 is below 1 ms, bucket k from 2^(k-1) up to 2^k ms,
// the last is open and speaks by the longest, and a time that is told is an upper bound. Its buckets are
// bytes: when one is full all are halved, so they speak of recent times. So does the longest: what came before
// the last halving but one is not among them, and the buckets beyond it are emptied.
#pragma once

// System.
#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
// fq, this room.
#include "core/schedule/memory/region.h"

namespace fq {

constexpr uint32_t histogram_bucket(const Histogram&, uint64_t ms) {
  return std::min(static_cast<uint32_t>(std::bit_width(ms)), Histogram::kBuckets - 1);
}
/// The time that stands for all in this bucket.
constexpr uint64_t histogram_value(const Histogram&, uint32_t bucket) { return uint64_t{1} << bucket; }

constexpr uint32_t histogram_bucket(const QueueHistogram&, uint64_t ms) {
  using H = QueueHistogram;
  if (ms < H::kExact) return static_cast<uint32_t>(ms);
  const auto width = static_cast<uint32_t>(std::bit_width(ms));  // 6 for 32 to 63
  const uint32_t octave = width - static_cast<uint32_t>(std::bit_width(H::kExact));
  if (octave >= H::kOctaves) return H::kBuckets - 1;
  const auto part = static_cast<uint32_t>(ms >> (width - 5)) - H::kPerOctave;
  return H::kExact + octave * H::kPerOctave + part;
}
constexpr uint64_t histogram_value(const QueueHistogram&, uint32_t bucket) {
  using H = QueueHistogram;
  if (bucket < H::kExact) return bucket;
  const uint32_t octave = (bucket - H::kExact) / H::kPerOctave;
  const uint64_t part = (bucket - H::kExact) % H::kPerOctave;
  return ((H::kPerOctave + part) << (octave + 1)) + (uint64_t{1} << octave);
}

/// Out of the way: one in a hundred notes or fewer comes here.
[[gnu::cold, gnu::noinline]] inline void histogram_halve(Txn& txn, Histogram& histogram) {
  const ShortTime longest = histogram.longest;
  const uint32_t last = histogram_bucket(histogram, ms_of(longest));
  for (uint32_t i = 0; i < Histogram::kBuckets; ++i) {
    auto& each = histogram.bucket[i];
    put(txn, each, i <= last ? static_cast<uint8_t>(each.get() / 2) : uint8_t{0});
  }
  put(txn, histogram.longest_before, longest);
  txn.set(histogram.longest, ShortTime{0});
}

/// One step (half a step's stores where all are halved).
[[gnu::always_inline]] inline void histogram_note(Txn& txn, Histogram& histogram, uint64_t ms) {
  const uint32_t bucket = histogram_bucket(histogram, ms);
  if (__builtin_expect(histogram.bucket[bucket] == UINT8_MAX, 0)) histogram_halve(txn, histogram);
  add_to(txn, histogram.bucket[bucket], 1);
  if (is_longer(ms, histogram.longest)) txn.set(histogram.longest, short_time_of(ms));
}

[[gnu::always_inline]] inline void histogram_note(Txn& txn, QueueHistogram& histogram, uint64_t ms) {
  add_to(txn, histogram.bucket[histogram_bucket(histogram, ms)], 1);
  if (ms == 0) return;
  add_to(txn, histogram.sum_ms, ms);
  if (ms > histogram.max_ms) txn.set(histogram.max_ms, ms);
}

/// How many times were noted.
template <class AnyHistogram>
uint64_t histogram_count(const AnyHistogram& histogram) {
  uint64_t all = 0;
  for (const auto& each : histogram.bucket) all += each.get();
  return all;
}

/// The longest of these times.
inline uint64_t histogram_longest_ms(const Histogram& histogram) {
  return std::max(ms_of(histogram.longest), ms_of(histogram.longest_before));
}
inline uint64_t histogram_longest_ms(const QueueHistogram& histogram) { return histogram.max_ms; }

/// The time that this part (above 0, to 1) of all stayed within, as well as it is known; none before the
/// first.
template <class AnyHistogram>
std::optional<uint64_t> histogram_percentile_ms(const AnyHistogram& histogram, double part) {
  const uint64_t all = histogram_count(histogram);
  if (all == 0) return std::nullopt;
  const auto wanted = static_cast<uint64_t>(std::ceil(part * static_cast<double>(all)));
  uint64_t seen = 0;
  for (uint32_t i = 0; i + 1 < AnyHistogram::kBuckets; ++i) {
    seen += histogram.bucket[i].get();
    if (seen != 0 && seen >= wanted) {
      return std::min(histogram_value(histogram, i), histogram_longest_ms(histogram));
    }
  }
  return histogram_longest_ms(histogram);
}

}  // namespace fq
