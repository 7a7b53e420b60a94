// plain_lease - what nearly every lease is, in one go: the first message of the tenant whose turn it is,
// where turns go by tags, no pool is in the way and nothing but the message's place is asked about.
//
// Turns::take_by_parts goes from part to part, each of which looks for itself where things lie. Here the way
// down is gone once, and its nodes are handed on. Both leave the same bytes, which plain_ways_test.cpp holds.
//
// All in line: called, a lease with its ack takes a thirtieth more.
#pragma once

// System.
#include <algorithm>
#include <optional>
// fq, this room.
#include "core/schedule/states/delivered.h"
#include "core/schedule/memory/state_counts.h"
#include "core/schedule/rings/costs.h"
#include "core/schedule/states/state.h"

namespace fq {

class PlainLease {
 public:
  explicit PlainLease(const Region& region) : region_(region) {}

  /// Takes the next turn of the whole queue. None: nothing was done, since something is not as mostly, or
  /// there is nothing to take; Turns::take_by_parts tells.
  std::optional<SlotIndex> take(Txn& txn, const LeaseTerms& terms) const;

 private:
  /// From the root down to a message.
  struct Way {
    struct Node {
      uint32_t index;
      Tenant* at;
    } nodes[kDepthMax + 1];
    uint32_t depth = 0;
    uint32_t slot = kNoIndex;
    Entry* entry = nullptr;
  };
  [[gnu::always_inline]] bool find(Way& way) const;
  [[gnu::always_inline]] void leave_lane(Txn& txn, const Opened<Tenant>& leaf, const Entry& entry) const;
  [[gnu::always_inline]] void charge(Txn& txn, const Opened<Tenant>& ring, uint32_t seat_index,
                                     const Opened<Tenant>& seat, uint64_t cost) const;

  const Region& region_;
};

/// Whether there is a message, and it is a matter of the nodes on its way alone.
inline bool PlainLease::find(Way& way) const {
  const ScheduleRoot& root = region_.root;
  if (is_ranked(root) || root.places_used != 0) return false;  // with pools there are places
  const Seats seats(region_);
  Tenant* at = &region_.tenant(kRoot);
  if (is_parked(*at)) return false;
  way.nodes[0] = {kRoot, at};
  while (is_inner(*at)) {
    const uint32_t first = at->lane.root == kNoIndex ? at->lane.head.get() : seats.first(*at);
    if (first == kNoIndex || way.depth == kDepthMax) return false;
    at = &region_.tenant(first);
    way.nodes[++way.depth] = {first, at};
  }
  way.slot = at->lane.head;
  if (way.depth == 0 || way.slot == kNoIndex || at->lane.root != kNoIndex || is_parked(*at)) return false;
  way.entry = &region_.entry(way.slot);
  const Entry& entry = *way.entry;
  if (entry.next < root.entries.capacity) fetch_ahead(region_.entry(entry.next));
  const bool is_its_own = entry.tenant == way.nodes[way.depth].index && state_of(entry) == SlotState::ready;
  return is_its_own && !has_extra(entry) && entry.heap_place == kNoIndex;
}

/// Of the head of the list.
inline void PlainLease::leave_lane(Txn& txn, const Opened<Tenant>& leaf, const Entry& entry) const {
  const Opened<Lane> lane = leaf.part(&Tenant::lane);
  const uint32_t next = entry.next;
  lane.set(&Lane::head, next);
  if (next == kNoIndex) lane.set(&Lane::tail, kNoIndex);
  if (next != kNoIndex) txn.set(region_.entry(next).prev, kNoIndex);
  take_from(lane, &Lane::count, 1);
  if (lane->count == 0) take_from(open_sums(txn, region_.root), region_.root.active_count, 1);
}

/// Seats::charge of a seat that is the head of its list and goes to its end, or away.
inline void PlainLease::charge(Txn& txn, const Opened<Tenant>& ring, uint32_t i, const Opened<Tenant>& seat,
                               uint64_t cost) const {
  const Opened<Lane> lane = ring.part(&Tenant::lane);
  const bool late = (seat->flags & kTenantLate) != 0;  // and has no refund, as there are no places
  const uint64_t begin = late ? begin_of_late(ring->vtime, seat->tag, 0) : seat->tag.get();
  const uint64_t tag = begin + turn_of(seat->weight_milli, cost);
  const uint32_t tail = lane->tail, next = seat->next;
  const bool is_head = lane->head == i && lane->root == kNoIndex;
  const bool stays = can_be_served(*seat);
  if (!is_head || (stays && tail != i && tag < region_.tenant(tail).tag)) {
    const auto above = static_cast<uint32_t>(seat->parent);
    return Seats(region_).charge(txn, above, i, cost, Seats::Turn::own);
  }
  ring.set(&Tenant::vtime, clock_after(*ring, *seat));
  seat.set(&Tenant::tag, tag);
  set_flag_of(seat, kTenantLate, false);
  if (stays) seat.set(&Tenant::sequence, take_sequence(ring));
  if (!stays) set_flag_of(seat, kTenantSeated, false);
  if (!stays) take_from(lane, &Lane::count, 1);
  if (stays && tail == i) return;  // it is alone there
  lane.set(&Lane::head, next);
  if (next != kNoIndex) txn.set(region_.tenant(next).prev, kNoIndex);
  if (!stays && next == kNoIndex) lane.set(&Lane::tail, kNoIndex);
  if (!stays) return;
  txn.set(region_.tenant(tail).next, i);
  seat.set(&Tenant::prev, tail);
  seat.set(&Tenant::next, kNoIndex);
  lane.set(&Lane::tail, i);
}

[[gnu::always_inline]] inline std::optional<SlotIndex> PlainLease::take(Txn& txn,
                                                                        const LeaseTerms& terms) const {
  Way way;
  if (!find(way)) return std::nullopt;
  ScheduleRoot& root = region_.root;
  Entry& entry = *way.entry;
  const Message message{way.slot, entry, *way.nodes[way.depth].at};
  const Cost cost = Costs(region_).of(entry);
  note_delivery(txn, region_, message, terms);
  const Opened<Tenant> leaf = region_.open(txn, message.tenant);
  leave_lane(txn, leaf, entry);

  const Opened<Entry> opened = region_.open(txn, entry);
  opened.set(&Entry::at_ms, terms.until_ms);
  opened.set(&Entry::state, static_cast<uint8_t>(SlotState::leased));
  opened.set(&Entry::holder, static_cast<uint16_t>(terms.holder));
  if (has_holder(entry)) HolderList(region_).insert(txn, message, terms.holder);
  if (terms.until_ms != kNever) DelayHeap(region_).insert(txn, way.slot);

  move_count(open_sums(txn, root).part(root.counts), SlotState::ready, SlotState::leased);
  Opened<Tenant> seat = leaf;
  for (uint32_t depth = way.depth; depth > 0; --depth) {
    move_count(seat.part(&Tenant::counts), SlotState::ready, SlotState::leased);
    const Opened<Tenant> ring = region_.open_ring(txn, *way.nodes[depth - 1].at);
    charge(txn, ring, way.nodes[depth].index, seat, cost.turns);
    seat = ring;
  }
  Costs(region_).note_start(txn, entry, cost, way.nodes[0].at->level);
  if (root.control_supply.used != 0) Limits(region_).started(txn, entry.tenant, terms.now_ms);
  return SlotIndex{way.slot};
}

}  // namespace fq
