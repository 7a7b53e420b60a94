#include "core/schedule/look/starts.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/schedule/rings/bucket.h"
#include "core/schedule/rings/pools.h"

namespace fq {

namespace {

constexpr uint64_t kPool = uint64_t{1} << 32;  // beside the nodes

uint64_t room_of(uint64_t running, uint64_t concurrency, const Bucket& bucket, int64_t now_ms) {
  return std::min(concurrency - std::min(running, concurrency), bucket.tokens(now_ms));
}

}  // namespace

template <class Visit>
void Starts::limits_at(uint32_t node, Visit&& visit) const {
  const Tenant& tenant = region_.tenant(node);
  if (!has_control(tenant)) return;
  const Control& control = control_of(region_, tenant);
  visit(node, room_of(counts_of(region_, node).leased, control.concurrency, bucket_of(control), now_ms_));
  // A pool counts a start once, however many of its path are members.
  const uint32_t at = pool_of(region_, tenant);
  if (at == kNoIndex || Pools(region_).member_above(node, at) != kNoIndex) return;
  const Pool& pool = region_.pool(at);
  visit(kPool + at, room_of(pool.leased, pool.terms.concurrency, bucket_of(pool), now_ms_));
}

template <class Visit>
void Starts::walk(uint32_t node, Visit&& visit) const {
  StepLimit limit(kDepthMax);
  for (uint32_t i = node;; i = region_.tenant(i).parent) {
    limits_at(i, visit);
    if (i == kRoot) return;
    limit.step();
  }
}

uint64_t Starts::left_at(uint32_t node) const {
  uint64_t left = UINT64_MAX;
  limits_at(node, [&](uint64_t limit, uint64_t room) { left = std::min(left, room_left(limit, room)); });
  return left;
}

uint64_t Starts::left_shared(uint32_t node) const {
  uint64_t left = UINT64_MAX;
  walk(node, [&](uint64_t limit, uint64_t room) {
    if (limit == kRoot || limit >= kPool) left = std::min(left, room_left(limit, room));
  });
  return left;
}

uint64_t Starts::left(uint32_t node) const {
  uint64_t left = UINT64_MAX;
  walk(node, [&](uint64_t limit, uint64_t room) { left = std::min(left, room_left(limit, room)); });
  return left;
}

void Starts::start(uint32_t leaf) {
  walk(leaf, [&](uint64_t limit, uint64_t) { ++started_[limit]; });
}

}  // namespace fq
