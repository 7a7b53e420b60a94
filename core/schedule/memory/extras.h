// extras - what few messages have besides their entry: a time to live.
//
// An Extra lies apart, so that plain messages take no more than their entry. Its message names it by `rank`,
// and it holds the rank proper. It is taken with its message and freed with it.
//
// Invariants
//  E1  extra_supply.used is the number of entries with kEntryExtra.
#pragma once

// fq, this room.
#include "core/schedule/memory/overhead.h"
#include "core/schedule/memory/region.h"

namespace fq {

inline SlotState state_of(const Entry& entry) { return static_cast<SlotState>(entry.state.get()); }
inline bool has_extra(const Entry& entry) { return (entry.flags & kEntryExtra) != 0; }

/// What it takes in the journal, about. A payload in blobs/ takes nothing there.
inline uint64_t journal_bytes_of(const Entry& entry) {
  const uint64_t payload = (entry.flags & kEntryBlob) == 0 ? entry.payload_bytes.get() : 0;
  return payload + overhead_bytes(entry.overhead);
}

/// Its priority, or the text of its sort key.
inline uint32_t rank_of(const Region& region, const Entry& entry) {
  return has_extra(entry) ? region.extra(entry.rank).rank.get() : entry.rank.get();
}

/// When a message that is ready has waited too long for its first start; kNever: that cannot be.
inline int64_t expires_ms(const Region& region, const Entry& entry) {
  if (!has_extra(entry) || entry.deliveries != 0) return kNever;
  const int64_t ttl_ms = region.extra(entry.rank).ttl_ms;
  return ttl_ms == kNever ? kNever : time_after(entry.at_ms, ttl_ms);
}

/// When the timer of a message is due, where it has one.
inline int64_t timer_ms(const Region& region, const Entry& entry) {
  return state_of(entry) == SlotState::ready ? expires_ms(region, entry) : entry.at_ms.get();
}

}  // namespace fq
