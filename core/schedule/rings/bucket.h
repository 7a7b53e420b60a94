// bucket - a rate as a bucket of tokens that fills up by one each interval.
//
// Kept as the time at which it will be full, which needs no timer while it fills. Since time is told in
// milliseconds, a bucket holds at least what one millisecond brings.
#pragma once

// System.
#include <algorithm>
// fq, this room.
#include "core/schedule/memory/node_values.h"

namespace fq {

inline constexpr int64_t kNsPerMs = 1'000'000;
inline constexpr int64_t kIntervalMaxNs = INT64_MAX / 4;

/// Between two tokens; rounded up: a rate is never exceeded. 0: no rate.
inline int64_t interval_of(const NodeTerms& terms) {
  if (terms.rate_count == 0) return 0;
  if (terms.rate_span_ms > kIntervalMaxNs / kNsPerMs) return kIntervalMaxNs;
  const int64_t span_ns = std::max<int64_t>(0, terms.rate_span_ms) * kNsPerMs;
  return std::max<int64_t>(1, (span_ns + terms.rate_count - 1) / terms.rate_count);
}

struct Bucket {
  int64_t interval_ns;
  int64_t burst;
  int64_t full_at_ns;

  /// How long an empty one takes to fill.
  int64_t depth_ns() const {
    const int64_t in_a_ms = (kNsPerMs + interval_ns - 1) / interval_ns;
    const int64_t tokens = std::max<int64_t>(burst, in_a_ms);
    return tokens > kIntervalMaxNs / interval_ns ? kIntervalMaxNs : tokens * interval_ns;
  }
  /// When it has a token; at or before now when it has one.
  int64_t token_at_ms() const {
    if (interval_ns == 0) return 0;
    const int64_t at_ns = full_at_ns - depth_ns() + interval_ns;
    return at_ns <= 0 ? 0 : (at_ns + kNsPerMs - 1) / kNsPerMs;
  }
  /// How many it has.
  uint64_t tokens(int64_t now_ms) const {
    if (interval_ns == 0) return UINT64_MAX;
    const int64_t missing = std::max<int64_t>(0, full_at_ns - now_ms * kNsPerMs);
    return static_cast<uint64_t>(std::max<int64_t>(0, depth_ns() - missing) / interval_ns);
  }
  /// When it will be full after one was taken now.
  int64_t full_after_one_ns(int64_t now_ms) const {
    if (interval_ns == 0) return full_at_ns;
    return std::min(std::max(full_at_ns, now_ms * kNsPerMs) + interval_ns, kNever / 2);
  }
};

/// Shared bytes may hold anything; within these bounds nothing overflows.
inline Bucket bucket_of(int64_t interval_ns, uint32_t burst, int64_t full_at_ns) {
  return {std::clamp<int64_t>(interval_ns, 0, kIntervalMaxNs), burst,
          std::clamp<int64_t>(full_at_ns, 0, kNever / 2)};
}
inline Bucket bucket_of(const Control& control) {
  return bucket_of(control.interval_ns, control.burst, control.full_at_ns);
}
inline Bucket bucket_of(const Pool& pool) {
  return bucket_of(pool.terms.interval_ns, pool.terms.burst, pool.full_at_ns);
}

}  // namespace fq
