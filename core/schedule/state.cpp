// state - see state.h.
#include "core/schedule/state.h"

namespace fq {
namespace {

Shared<uint32_t>* count_of(StateCounts& counts, SlotState state) {
  switch (state) {
    case SlotState::free:
      return nullptr;
    case SlotState::ready:
      return &counts.ready;
    case SlotState::delayed:
      return &counts.delayed;
    case SlotState::leased:
      return &counts.leased;
    case SlotState::dead:
      return &counts.dead;
    case SlotState::held:
      return &counts.held;
  }
  throw RegionDamaged{"a message is in no known state"};
}

void move_count(Txn& txn, StateCounts& counts, SlotState from, SlotState to) {
  if (auto* count = count_of(counts, from)) take_from(txn, *count, 1);
  if (auto* count = count_of(counts, to)) add_to(txn, *count, 1);
}

}  // namespace

void States::count(Txn& txn, const Entry& entry, SlotState from, SlotState to) const {
  if (from == to) return;
  move_count(txn, region_.root.counts, from, to);
  move_count(txn, region_.tenant(entry.tenant).counts, from, to);
}

void States::set_state(Txn& txn, Entry& entry, SlotState to) const {
  count(txn, entry, state_of(entry), to);
  put(txn, entry.state, static_cast<uint8_t>(to));
}

void States::leave(Txn& txn, uint32_t slot, bool settle) const {
  Entry& entry = region_.entry(slot);
  switch (state_of(entry)) {
    case SlotState::ready: {
      Tenant& tenant = region_.tenant(entry.tenant);
      if (is_inner(tenant)) throw RegionDamaged{"a message lies in an inner node"};
      lanes_.remove(txn, tenant.lane, slot);
      if (tenant.lane.count != 0) return;
      take_from(txn, region_.root.active_count, 1);
      if (settle) seats_.settle(txn, entry.tenant);
      return;
    }
    case SlotState::delayed:
      return heap_.remove(txn, slot);
    case SlotState::leased:
      if (has_holder(entry)) unlink_holder(txn, slot);
      return heap_.remove(txn, slot);
    case SlotState::dead:
    case SlotState::held:
      return;
    case SlotState::free:
      break;
  }
  throw RegionDamaged{"a message is in no known state"};
}

void States::enter_ready(Txn& txn, uint32_t slot, int64_t since_ms) const {
  Entry& entry = region_.entry(slot);
  Tenant& tenant = region_.tenant(entry.tenant);
  if (is_inner(tenant)) throw RegionDamaged{"a message lies in an inner node"};
  put(txn, entry.at_ms, since_ms);
  lanes_.insert(txn, tenant.lane, slot);
  set_state(txn, entry, SlotState::ready);
  if (tenant.lane.count != 1) return;
  add_to(txn, region_.root.active_count, 1);
  seats_.settle(txn, entry.tenant);
}

void States::enter_delayed(Txn& txn, uint32_t slot, int64_t due_ms) const {
  Entry& entry = region_.entry(slot);
  put(txn, entry.at_ms, due_ms);
  if (due_ms != kNever) heap_.insert(txn, slot);
  set_state(txn, entry, SlotState::delayed);
}

void States::enter_leased(Txn& txn, uint32_t slot, HolderIndex holder, int64_t until_ms) const {
  Entry& entry = region_.entry(slot);
  put(txn, entry.at_ms, until_ms);
  put(txn, entry.holder, static_cast<uint16_t>(holder));
  if (has_holder(entry)) link_holder(txn, slot, holder);
  if (until_ms != kNever) heap_.insert(txn, slot);
  set_state(txn, entry, SlotState::leased);
}

void States::enter_dead(Txn& txn, uint32_t slot, int64_t since_ms) const {
  Entry& entry = region_.entry(slot);
  put(txn, entry.at_ms, since_ms);
  set_state(txn, entry, SlotState::dead);
}

void States::link_holder(Txn& txn, uint32_t slot, HolderIndex index) const {
  const auto place = static_cast<uint16_t>(index);
  if (place >= kHoldersMax) throw RegionDamaged{"a holder is out of range"};
  Holder& holder = region_.root.holders[place];
  Entry& entry = region_.entry(slot);
  const uint32_t head = holder.count == 0 ? kNoIndex : holder.head.get();
  put(txn, entry.holder, place);
  put(txn, entry.prev, kNoIndex);
  put(txn, entry.next, head);
  if (head != kNoIndex) txn.set(region_.entry(head).prev, slot);
  txn.set(holder.head, slot);
  add_to(txn, holder.count, 1);
}

void States::unlink_holder(Txn& txn, uint32_t slot) const {
  Entry& entry = region_.entry(slot);
  if (entry.holder >= kHoldersMax) throw RegionDamaged{"a holder is out of range"};
  Holder& holder = region_.root.holders[entry.holder];
  const uint32_t prev = entry.prev, next = entry.next;
  txn.set(prev == kNoIndex ? holder.head : region_.entry(prev).next, next);
  if (next != kNoIndex) txn.set(region_.entry(next).prev, prev);
  take_from(txn, holder.count, 1);
  put(txn, entry.holder, static_cast<uint16_t>(kHeldByTime));
}

}  // namespace fq
