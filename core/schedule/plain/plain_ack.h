// plain_ack - what nearly every ack is, in one go: of a leased message without key, waits or steps, for which
// nobody waits and that no pool counts.
//
// Messages::finish_by_parts goes from part to part, each of which looks for itself whether it is concerned.
// Both leave the same bytes, which plain_ways_test.cpp holds.
//
// All in line, as PlainLease is.
#pragma once

// fq, this room.
#include "core/schedule/memory/histogram.h"
#include "core/schedule/memory/run_marks.h"
#include "core/schedule/memory/state_counts.h"
#include "core/schedule/order/outcomes.h"
#include "core/schedule/states/state.h"

namespace fq {

class PlainAck {
 public:
  explicit PlainAck(const Region& region) : region_(region) {}

  /// Ends it as acked. False: nothing was done, since something is not as mostly; Messages::finish_by_parts
  /// does it.
  bool finish(Txn& txn, SlotIndex slot, const MessageEnd& end) const;

 private:
  bool is_usual(const Entry& entry) const;
  void count(Txn& txn, const Message& message, int64_t now_ms) const;

  const Region& region_;
};

inline bool PlainAck::is_usual(const Entry& entry) const {
  const ScheduleRoot& root = region_.root;
  const bool is_apart = root.pool_supply.used == 0 && root.dependency_supply.used == 0;
  // With fair_by time its nodes pay at its end for what it ran.
  const bool is_paid = entry.rough_cost == 0;
  return is_apart && is_paid && state_of(entry) == SlotState::leased &&
         (entry.flags & (kEntryExtra | kEntryKeyed)) == 0;
}

/// It is no more: in the sums of the queue, of its node and those above. Nodes that have nothing else are
/// idle from now on.
inline void PlainAck::count(Txn& txn, const Message& message, int64_t now_ms) const {
  ScheduleRoot& root = region_.root;
  const uint32_t bytes = message.entry.payload_bytes;
  const OpenedSums sums = open_sums(txn, root);
  add_to(sums, root.counters.acked, 1);
  take_from(sums, root.payload_bytes, bytes);
  take_from(sums, root.journal_bytes, journal_bytes_of(message.entry));
  move_count(sums.part(root.counts), SlotState::leased, SlotState::free);
  Opened<Tenant> node = region_.open(txn, message.tenant);
  add_to(node, &Tenant::acked, 1);
  for (StepLimit limit(kDepthMax);; limit.step()) {
    if (!has_something(*node) && node->counts.leased <= 1) node.set(&Tenant::used_ms, now_ms);
    move_count(node.part(&Tenant::counts), SlotState::leased, SlotState::free);
    take_from(node, &Tenant::payload_bytes, bytes);
    if (node->parent == kRoot) break;
    node = region_.open_ring(txn, region_.tenant(node->parent));
  }
}

[[gnu::always_inline]] inline bool PlainAck::finish(Txn& txn, SlotIndex index, const MessageEnd& end) const {
  const Message message = region_.message(static_cast<uint32_t>(index));
  auto& [slot, entry, tenant] = message;
  if (!is_usual(entry)) return false;
  const uint64_t run = run_ms_of(region_.root, entry, end.now_ms);
  histogram_note(txn, region_.root.run, run);
  histogram_note(txn, tenant.run, run);
  if (has_holder(entry)) HolderList(region_).remove(txn, message);
  if (entry.heap_place != kNoIndex) DelayHeap(region_).remove(txn, slot);
  outcome_add(txn, region_, slot, region_.open(txn, entry),
              {RecordType::acked, end.event_position, end.at_wall_ms});
  count(txn, message, end.now_ms);
  if (region_.root.control_supply.used != 0) Limits(region_).ended(txn, entry.tenant);
  if (TenantTree::has_nothing(tenant)) TenantTree(region_).note_idle(txn, entry.tenant, end.now_ms);
  return true;
}

}  // namespace fq
