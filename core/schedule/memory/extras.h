// extras - the fields that few messages have besides their entry: a time to live, waits, steps.
//
// An Extra lies apart, so that plain messages take no more than their entry. Its message names it by `rank`,
// and it holds the rank proper. It is taken with its message or when it is first needed, and freed with it.
//
// Invariants
//  X1  extra_supply.used is the number of entries with kEntryExtra.
#pragma once

// fq, this room.
#include "core/schedule/memory/overhead.h"
#include "core/schedule/memory/region.h"

namespace fq {

inline SlotState state_of(const Entry& entry) { return static_cast<SlotState>(entry.state.get()); }
inline bool has_extra(const Entry& entry) { return (entry.flags & kEntryExtra) != 0; }

/// The bytes that a message takes in the journal, about. A payload in blobs/ takes none there.
inline uint64_t journal_bytes_of(const Entry& entry) {
  const uint64_t payload = (entry.flags & kEntryBlob) == 0 ? entry.payload_bytes.get() : 0;
  return payload + overhead_bytes(entry.overhead);
}

/// Its bytes, as the sums count them: its payload, and what its steps have put out.
inline uint32_t bytes_of(const Region& region, const Entry& entry) {
  return entry.payload_bytes + (has_extra(entry) ? region.extra(entry.rank).step_bytes.get() : 0);
}

/// Empties an Extra that was just taken, but for the rank.
inline void empty_extra(Txn& txn, Extra& extra, uint32_t rank) {
  txn.fresh(extra.ttl_ms, kNever);
  txn.fresh(extra.rank, rank);
  txn.fresh(extra.flags, 0);
  txn.fresh(extra.key, kNoIndex);
  txn.fresh(extra.waits, kNoIndex);
  txn.fresh(extra.due_ms, 0);
  txn.fresh(extra.steps, kNoIndex);
  txn.fresh(extra.oldest_step, kNoIndex);
  txn.fresh(extra.step_count, 0);
  txn.fresh(extra.step_bytes, 0);
  txn.fresh(extra.step_record_bytes, 0);
  txn.fresh(extra.step_blob_bytes, 0);
  txn.fresh(extra.fresh, 0);
}

/// The Extra of a message, which has one from now on. Needs: room for it.
inline Extra& give_extra(Txn& txn, const Region& region, Entry& entry) {
  if (has_extra(entry)) return region.extra(entry.rank);
  const auto [index, extra] = take_element(txn, region.arena, region.root.extras, region.root.extra_supply);
  empty_extra(txn, extra, entry.rank);
  put(txn, entry.rank, index);
  put(txn, entry.flags, static_cast<uint8_t>(entry.flags | kEntryExtra));
  return extra;
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
