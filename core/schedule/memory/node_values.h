// node_values - the policy values of one node of the tenant tree, in the segment and in hand.
//
// The same fields twice: Shared in the segment (the values of a rule, the values set at run time), plain
// while the values that hold are worked out. `given` tells which of them are there.
#pragma once

// System.
#include <string_view>
// fq, below us.
#include "core/base/policy.h"
// fq, this room.
#include "core/schedule/memory/region.h"

namespace fq {

inline constexpr uint32_t kGivenWeight = 1;
inline constexpr uint32_t kGivenConcurrency = 2;
inline constexpr uint32_t kGivenRate = 4;
inline constexpr uint32_t kGivenBurst = 8;
inline constexpr uint32_t kGivenMaxMessages = 16;
inline constexpr uint32_t kGivenMaxBytes = 32;
inline constexpr uint32_t kGivenPool = 64;
inline constexpr uint32_t kGivenPaused = 128;
inline constexpr uint32_t kGivenLimited = 256;
inline constexpr uint32_t kGivenCaps = kGivenMaxMessages | kGivenMaxBytes;
inline constexpr uint32_t kGivens[] = {kGivenWeight, kGivenConcurrency, kGivenRate,
                                       kGivenBurst,  kGivenMaxMessages, kGivenMaxBytes,
                                       kGivenPool,   kGivenPaused,      kGivenLimited};

/// Calls `visit(bit, a's field, b's field)` for all that two sets of values have in common.
template <class A, class B, class Visit>
void visit_values(A&& a, B&& b, Visit&& visit) {
  visit(kGivenWeight, a.weight_milli, b.weight_milli);
  visit(kGivenConcurrency, a.concurrency, b.concurrency);
  visit(kGivenRate, a.rate_count, b.rate_count);
  visit(kGivenRate, a.rate_span_ms, b.rate_span_ms);
  visit(kGivenBurst, a.burst, b.burst);
  visit(kGivenMaxMessages, a.max_messages, b.max_messages);
  visit(kGivenMaxBytes, a.max_bytes, b.max_bytes);
  visit(kGivenPool, a.pool, b.pool);
}

/// In hand; a value that is not given has its default.
struct NodeTerms {
  uint32_t given = 0;
  uint32_t weight_milli = kWeightDefault;
  uint32_t concurrency = kNoCount;
  uint32_t burst = 1;
  uint32_t rate_count = 0;  // in each span; 0: no rate
  int64_t rate_span_ms = 0;
  uint64_t max_messages = UINT64_MAX;
  uint64_t max_bytes = UINT64_MAX;
  uint32_t pool = kNoIndex;  // text of its name
};

/// A change at run time.
struct NodePatch {
  NodeTerms set;
  std::string_view pool;         // kGivenPool: its name
  int64_t limited_until_ms = 0;  // kGivenLimited: boot time
  uint32_t unset = 0;
};

/// Of the values that are for nodes; the others are passed over. `limited` is taken as it is.
NodePatch node_patch(const PolicyValues& set, const std::vector<PolicyKey>& unset);
/// 0 for a key that is not for nodes.
uint32_t given_of(PolicyKey key);

}  // namespace fq
