#include "core/redis/views/time_counts.h"

// System.
#include <algorithm>
#include <bit>
#include <cmath>
// fq, below us.
#include "core/base/text/decimal.h"
#include "core/base/time/short_time.h"

namespace fq {

namespace {

constexpr uint64_t kExact = 32, kPerOctave = 16;
constexpr uint64_t kBucketsMax = kExact + kPerOctave * 50;  // beyond it are times that no clock tells
constexpr uint32_t kRecentBuckets = 24;
constexpr size_t kLongestBytes = 8;
constexpr uint32_t kAreTwo = uint32_t{1} << 31;

/// What is told of a time in this bucket: the middle of it.
uint64_t time_of(uint64_t bucket) {
  if (bucket < kExact) return bucket;
  const uint64_t octave = (bucket - kExact) / kPerOctave, part = (bucket - kExact) % kPerOctave;
  return ((kPerOctave + part) << (octave + 1)) + (uint64_t{1} << octave);
}

/// `counts`: how many there were by the time that is told of them, if that is not longer than the longest.
Percentiles percentiles_of(const std::map<uint64_t, uint64_t>& counts, uint64_t max_ms) {
  Percentiles result;
  for (const auto& [time_ms, count] : counts) result.count += count;
  if (result.count == 0) return result;
  const auto part = [&](double p) {
    const auto wanted = static_cast<uint64_t>(std::ceil(p * static_cast<double>(result.count)));
    uint64_t seen = 0;
    for (const auto& [time_ms, count] : counts) {
      seen += count;
      if (seen >= wanted) return static_cast<int64_t>(std::min(time_ms, max_ms));
    }
    return static_cast<int64_t>(max_ms);
  };
  result.p50 = part(0.5);
  result.p90 = part(0.9);
  result.p99 = part(0.99);
  result.max = static_cast<int64_t>(max_ms);
  return result;
}

/// The two that recent_times.lua keeps, or the number that versions of fq before them did.
uint64_t longest_of(std::string_view bytes) {
  Unpacker two(bytes);
  const auto latest = two.number<ShortTime>(), before = two.number<ShortTime>();
  if (two.number<uint32_t>() == kAreTwo) return std::max(ms_of(latest), ms_of(before));
  return static_cast<uint64_t>(std::max<int64_t>(0, Unpacker(bytes).whole()));
}

}  // namespace

void TimeCounts::take(std::string_view field, uint64_t value) {
  if (field == "s") sum_ms_ += value;
  if (field == "m") max_ms_ = std::max(max_ms_, value);
  const std::optional<uint64_t> bucket = parse_decimal(field);
  if (bucket && *bucket < kBucketsMax) counts_[time_of(*bucket)] += value;
}

Percentiles TimeCounts::percentiles() const {
  Percentiles result = percentiles_of(counts_, max_ms_);
  if (result.count == 0) return result;
  result.sum_ms = sum_ms_;
  for (const auto& [time_ms, count] : counts_) {
    const auto octave = static_cast<size_t>(std::bit_width(time_ms));
    if (result.by_octave.size() <= octave) result.by_octave.resize(octave + 1);
    result.by_octave[octave] += count;
  }
  return result;
}

Percentiles recent_times(Unpacker& bytes) {
  uint64_t longest_ms = longest_of(bytes.raw(kLongestBytes));
  uint64_t highest = 0;
  std::map<uint64_t, uint64_t> counts;
  for (uint32_t bucket = 0; bucket < kRecentBuckets; ++bucket) {
    const bool is_open = bucket + 1 == kRecentBuckets;
    const auto count = bytes.number<uint8_t>();
    if (count == 0) continue;
    highest = uint64_t{1} << bucket;
    counts[is_open ? UINT64_MAX : highest] = count;
  }
  // What an older version writes over the two is the longest of its own alone.
  if (longest_ms < highest / 2) longest_ms = highest;
  return percentiles_of(counts, longest_ms);
}

}  // namespace fq
