// control - what the policy says of a node, for those few nodes of which it says anything.
//
// A Rule is one tenant entry of the policy file: its values hold for every node whose path its pattern takes
// in. A Control belongs to one node: what was set for it at run time, what holds for it after all layers were
// put together, and how much of its limits is used up. Kept apart from Tenant, so that a tenant without any
// costs nothing for them.
//
// Invariants
//  C1  A Control is named by exactly one node, and names it.
//  C2  For a node without one nothing holds but the defaults, and nothing blocks it but its own gathering.
#pragma once

// System.
#include <algorithm>
// fq, this room.
#include "core/schedule/node_values.h"

namespace fq {

inline bool has_control(const Tenant& tenant) { return tenant.control != kNoIndex; }

inline Control& control_of(const Region& region, const Tenant& tenant) {
  return region.arena.at(region.root.controls, tenant.control);
}

/// Since when the messages of a leaf that waits for that gather.
inline int64_t gathers_since_ms(const Tenant& leaf) { return static_cast<int64_t>(leaf.joins.get()); }
/// When a window that began then is over.
inline int64_t window_end_ms(const Region& region, int64_t since_ms) {
  return time_after(since_ms, std::min<int64_t>(region.root.terms.linger_ms, kNever / 4));
}
/// When the messages of a leaf that waits for that have gathered.
inline int64_t gathered_at_ms(const Region& region, const Tenant& leaf) {
  return window_end_ms(region, gathers_since_ms(leaf));
}

/// The counts of a node and all below it, whichever node it is.
inline const StateCounts& counts_of(const Region& region, uint32_t i) {
  return i == static_cast<uint32_t>(kRootTenant) ? region.root.counts : region.tenant(i).counts;
}

}  // namespace fq
