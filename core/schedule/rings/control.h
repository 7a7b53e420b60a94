// control - the policy of a node, for those few nodes of which the policy says anything.
//
// A Rule is one tenant entry of the policy file: its values hold for every node whose path its pattern
// matches. A Control belongs to one node: the values set for it at run time, the values that hold for it
// after all layers were put together, and how much of its limits is used up. Kept apart from Tenant, so that
// a tenant without one costs nothing for them.
//
// Invariants
//  C1  A Control is named by exactly one node, and names it.
//  C2  For a node without one nothing holds but the defaults, and nothing blocks it but its own gathering.
#pragma once

// System.
#include <algorithm>
#include <bit>
// fq, this room.
#include "core/schedule/memory/node_values.h"
#include "core/schedule/memory/text_pool.h"

namespace fq {

inline bool has_control(const Tenant& tenant) { return tenant.control != kNoIndex; }

inline Control& control_of(const Region& region, const Tenant& tenant) {
  return region.arena.at(region.root.controls, tenant.control);
}

/// The pool that this node itself is a member of, or kNoIndex.
inline uint32_t pool_of(const Region& region, const Tenant& tenant) {
  return has_control(tenant) ? control_of(region, tenant).pool.get() : kNoIndex;
}

/// The bytes that the values set at run time take in the journal, about.
inline uint64_t setting_bytes_of(const Region& region, const Control& control) {
  constexpr uint64_t kRecordBytes = 64, kValueBytes = 24;
  const uint32_t given = control.set.given;
  if (given == 0) return 0;
  const uint32_t name = region.tenant(control.node).name;
  const uint64_t path_bytes = name == kNoIndex ? 0 : text_length(region, name);
  const uint64_t pool_bytes = (given & kGivenPool) == 0 ? 0 : text_length(region, control.set.pool);
  return kRecordBytes + path_bytes + pool_bytes + kValueBytes * static_cast<uint64_t>(std::popcount(given));
}

/// Since when the messages of a leaf that waits for that gather.
inline int64_t gathers_since_ms(const Tenant& leaf) { return static_cast<int64_t>(leaf.joins.get()); }
/// When a window that began then is over.
inline int64_t window_end_ms(const Region& region, int64_t since_ms) {
  return time_after(since_ms, std::min<int64_t>(region.root.terms.linger_ms, kLatestMs));
}
/// When the messages of a leaf that waits for that have gathered.
inline int64_t gathered_at_ms(const Region& region, const Tenant& leaf) {
  return window_end_ms(region, gathers_since_ms(leaf));
}

/// The counts of a node and all below it, whichever node it is.
inline CountsNow counts_of(const Region& region, uint32_t i) {
  return i == kRoot ? CountsNow(region.root.counts) : CountsNow(region.tenant(i).counts);
}

}  // namespace fq
