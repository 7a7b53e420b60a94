#include "core/redis/views/time_counts.h"

// System.
#include <algorithm>
#include <bit>
#include <cmath>
// fq, below us.
#include "core/base/text/decimal.h"

namespace fq {

namespace {

constexpr uint64_t kExact = 32, kPerOctave = 16;
constexpr uint64_t kBucketsMax = kExact + kPerOctave * 50;  // beyond it are times that no clock tells

/// What is told of a time in this bucket: the middle of it.
uint64_t time_of(uint64_t bucket) {
  if (bucket < kExact) return bucket;
  const uint64_t octave = (bucket - kExact) / kPerOctave, part = (bucket - kExact) % kPerOctave;
  return ((kPerOctave + part) << (octave + 1)) + (uint64_t{1} << octave);
}

}  // namespace

void TimeCounts::take(std::string_view field, uint64_t value) {
  if (field == "s") sum_ms_ += value;
  if (field == "m") max_ms_ = std::max(max_ms_, value);
  const std::optional<uint64_t> bucket = parse_decimal(field);
  if (bucket && *bucket < kBucketsMax) counts_[*bucket] += value;
}

Percentiles TimeCounts::percentiles() const {
  Percentiles result;
  for (const auto& [bucket, count] : counts_) {
    result.count += count;
    const auto octave = static_cast<size_t>(std::bit_width(time_of(bucket)));
    if (result.by_octave.size() <= octave) result.by_octave.resize(octave + 1);
    result.by_octave[octave] += count;
  }
  if (result.count == 0) return result;
  const auto part = [&](double p) {
    const auto wanted = static_cast<uint64_t>(std::ceil(p * static_cast<double>(result.count)));
    uint64_t seen = 0;
    for (const auto& [bucket, count] : counts_) {
      seen += count;
      if (seen >= wanted) return static_cast<int64_t>(std::min(time_of(bucket), max_ms_));
    }
    return static_cast<int64_t>(max_ms_);
  };
  result.p50 = part(0.5);
  result.p90 = part(0.9);
  result.p99 = part(0.99);
  result.max = static_cast<int64_t>(max_ms_);
  result.sum_ms = sum_ms_;
  return result;
}

}  // namespace fq
