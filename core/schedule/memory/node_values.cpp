#include "core/schedule/memory/node_values.h"

// System.
#include <algorithm>

namespace fq {
namespace {

/// More than a counter holds is as good as no limit.
uint32_t to_count(int64_t number) {
  return number < 0 || number >= int64_t{kNoCount} ? kNoCount : static_cast<uint32_t>(number);
}
uint64_t to_size(int64_t number) {
  return number == kUnlimited ? UINT64_MAX : static_cast<uint64_t>(std::max<int64_t>(0, number));
}

/// A count that does not fit is told in a shorter time: never a higher rate.
void take_rate(NodeTerms& terms, const PolicyValue& value) {
  int64_t count = value.number == kUnlimited ? 0 : value.number;
  int64_t span_ms = std::max<int64_t>(1, value.second);
  for (; count >= int64_t{kNoCount}; count /= 2) span_ms = (span_ms + 1) / 2;
  terms.rate_count = to_count(count);
  terms.rate_span_ms = span_ms;
}

void take(NodePatch& patch, const PolicyValue& value) {
  NodeTerms& terms = patch.set;
  switch (value.key) {
    case PolicyKey::weight:
      terms.weight_milli = std::clamp(to_count(value.number), kWeightMin, kWeightMax);
      break;
    case PolicyKey::concurrency:
      terms.concurrency = to_count(value.number);
      break;
    case PolicyKey::rate:
      take_rate(terms, value);
      break;
    case PolicyKey::burst:
      terms.burst = std::max<uint32_t>(1, to_count(value.number));
      break;
    case PolicyKey::max_messages:
      terms.max_messages = to_size(value.number);
      break;
    case PolicyKey::max_bytes:
      terms.max_bytes = to_size(value.number);
      break;
    case PolicyKey::pool:
      patch.pool = value.text;
      break;
    case PolicyKey::limited:
      patch.limited_until_ms = value.number;
      break;
    default:
      break;
  }
}

}  // namespace

uint32_t given_of(PolicyKey key) {
  switch (key) {
    case PolicyKey::weight:
      return kGivenWeight;
    case PolicyKey::concurrency:
      return kGivenConcurrency;
    case PolicyKey::rate:
      return kGivenRate;
    case PolicyKey::burst:
      return kGivenBurst;
    case PolicyKey::max_messages:
      return kGivenMaxMessages;
    case PolicyKey::max_bytes:
      return kGivenMaxBytes;
    case PolicyKey::pool:
      return kGivenPool;
    case PolicyKey::paused:
      return kGivenPaused;
    case PolicyKey::limited:
      return kGivenLimited;
    default:
      return 0;
  }
}

NodePatch node_patch(const PolicyValues& set, const std::vector<PolicyKey>& unset) {
  NodePatch patch;
  for (const PolicyValue& value : set) {
    patch.set.given |= given_of(value.key);
    take(patch, value);
  }
  for (const PolicyKey key : unset) patch.unset |= given_of(key);
  return patch;
}

}  // namespace fq
