// state - see state.h.
#include "core/schedule/states/state.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/schedule/memory/state_counts.h"
#include "core/schedule/rings/costs.h"

namespace fq {
namespace {

bool is_live(SlotState state) { return state != SlotState::free && state != SlotState::dead; }

/// In the sums of the queue.
[[gnu::always_inline]] inline void count_bytes(Txn& txn, const Region& region, const Entry& entry,
                                               SlotState from, SlotState to, uint32_t bytes) {
  ScheduleRoot& root = region.root;
  const OpenedSums sums = open_sums(txn, root);
  if (from == SlotState::free) {
    add_to(sums, root.payload_bytes, bytes);
    add_to(sums, root.journal_bytes, journal_bytes_of(entry));
  }
  if (to == SlotState::free) {
    take_from(sums, root.payload_bytes, bytes);
    take_from(sums, root.journal_bytes, journal_bytes_of(entry));
  }
  if (to == SlotState::dead) add_to(txn, root.dead_bytes, bytes);
  if (from == SlotState::dead) take_from(txn, root.dead_bytes, bytes);
}

/// Where both states are known to the compiler, nothing is left of what it asks about them.
[[gnu::always_inline]] inline void count_move(Txn& txn, const Region& region, const Message& message,
                                              SlotState from, SlotState to) {
  ScheduleRoot& root = region.root;
  const OpenedSums sums = open_sums(txn, root);
  move_count(sums.part(root.counts), from, to);
  // Between two states of what lives nothing changes but the two counts: with most of the changes.
  const bool lived = is_live(from), lives = is_live(to);
  const uint32_t bytes = lived && lives ? 0 : bytes_of(region, message.entry);
  if (!lived || !lives) count_bytes(txn, region, message.entry, from, to, bytes);
  const bool was_leased = from == SlotState::leased;
  if ((was_leased || to == SlotState::leased) && root.pool_supply.used != 0)
    Pools(region).count(txn, message.entry.tenant, !was_leased);
  StepLimit limit(kDepthMax);
  for (Opened<Tenant> node = region.open(txn, message.tenant);; limit.step()) {
    move_count(node.part(&Tenant::counts), from, to);
    if (lives && !lived) add_to(node, &Tenant::payload_bytes, bytes);
    if (lived && !lives) take_from(node, &Tenant::payload_bytes, bytes);
    if (node->parent == kRoot) break;
    node = region.open_ring(txn, region.tenant(node->parent));
  }
}

}  // namespace

void States::count(Txn& txn, const Message& message, SlotState from, SlotState to) const {
  // What most messages go through.
  if (from == SlotState::free && to == SlotState::ready)
    return count_move(txn, region_, message, SlotState::free, SlotState::ready);
  if (from == SlotState::ready && to == SlotState::leased)
    return count_move(txn, region_, message, SlotState::ready, SlotState::leased);
  if (from == SlotState::leased && to == SlotState::free)
    return count_move(txn, region_, message, SlotState::leased, SlotState::free);
  if (from == to) return;
  if (std::max(from, to) > SlotState::held) region_damaged("a message is in no known state");
  count_move(txn, region_, message, from, to);
}

// A dead one holds no key; a debounced one no more once it is due.
void States::note_key(Txn& txn, const Message& message, SlotState to) const {
  Extra& extra = region_.extra(message.entry.rank);
  if (extra.key == kNoIndex) return;
  const UniqueKeys keys(region_);
  const bool debounced = (region_.key(extra.key).flags & kKeyDebounced) != 0;
  if (debounced && to != SlotState::delayed) {
    keys.remove(txn, extra.key);
    put(txn, extra.key, kNoIndex);
  } else if (to == SlotState::dead) {
    keys.give_up(txn, extra.key);
  }
}

void States::change_bytes(Txn& txn, const Message& message, uint32_t less, uint32_t more) const {
  if (less == more) return;
  const Entry& entry = message.entry;
  ScheduleRoot& root = region_.root;
  take_from(txn, root.payload_bytes, less);
  add_to(txn, root.payload_bytes, more);
  const bool live = is_live(state_of(entry));
  if (!live) {
    take_from(txn, root.dead_bytes, less);
    add_to(txn, root.dead_bytes, more);
  }
  StepLimit limit(kDepthMax);
  for (uint32_t i = live ? entry.tenant.get() : kRoot; i != static_cast<uint32_t>(kRootTenant);
       limit.step()) {
    Tenant& node = region_.tenant(i);
    take_from(txn, node.payload_bytes, less);
    add_to(txn, node.payload_bytes, more);
    i = node.parent;
  }
}

void States::set_size(Txn& txn, const Message& message, const Size& size) const {
  Entry& entry = message.entry;
  ScheduleRoot& root = region_.root;
  change_bytes(txn, message, entry.payload_bytes, size.payload_bytes);
  take_from(txn, root.journal_bytes, journal_bytes_of(entry));
  put(txn, entry.payload_bytes, size.payload_bytes);
  put(txn, entry.overhead, size.overhead);
  const int flags = (entry.flags & ~kEntryBlob) | (size.blob ? kEntryBlob : 0);
  put(txn, entry.flags, static_cast<uint8_t>(flags));
  add_to(txn, root.journal_bytes, journal_bytes_of(entry));
}

// A message that is no longer held waits for nothing; a dead one keeps its waits, for a kick, but its turn
// among those that wait comes anew then.
void States::note_extra(Txn& txn, const Message& message, SlotState to) const {
  Extra& extra = region_.extra(message.entry.rank);
  const Waits waits(region_);
  if (to == SlotState::dead) {
    waits.bury_all(txn, extra);
  } else if (to != SlotState::held && extra.waits != kNoIndex) {
    waits.drop(txn, extra);
  }
  note_key(txn, message, to);
}

[[gnu::always_inline]] inline void States::set_state(Txn& txn, const Message& message, SlotState to) const {
  if (has_extra(message.entry)) note_extra(txn, message, to);
  count(txn, message, state_of(message.entry), to);
  region_.open(txn, message.entry).set(&Entry::state, static_cast<uint8_t>(to));
}

/// The lane of ready ones.
Opened<Lane> States::lane_of(Txn& txn, const Message& message) const {
  return region_.open(txn, message.tenant).part(&Tenant::lane);
}

Opened<Lane> States::dead_lane(Txn& txn) const { return txn.open<kNotOpened>(region_.root.dead); }

void States::leave(Txn& txn, const Message& message, bool reseat) const {
  auto& [slot, entry, tenant] = message;
  switch (state_of(entry)) {
    case SlotState::ready:
      if (is_inner(tenant)) throw RegionDamaged{"a message lies in an inner node"};
      lanes().remove(txn, lane_of(txn, message), slot, region_.open(txn, entry));
      if (entry.heap_place != kNoIndex) heap().remove(txn, slot);
      if (tenant.lane.count == 0) {
        take_from(open_sums(txn, region_.root), region_.root.active_count, 1);
        if ((tenant.blocks & kBlockGather) != 0) gathering().emptied(txn, entry.tenant);
      }
      if (reseat && (tenant.lane.count == 0 || is_ranked(region_.root))) seats().reseat(txn, entry.tenant);
      return;
    case SlotState::leased:
      if (has_holder(entry)) HolderList(region_).remove(txn, message);
      if (entry.heap_place != kNoIndex) heap().remove(txn, slot);
      return;
    case SlotState::delayed:
      if (entry.deliveries != 0) take_from(txn, region_.root.returning, 1);
      if (entry.heap_place != kNoIndex) heap().remove(txn, slot);
      return;
    case SlotState::dead:
      dead().remove(txn, dead_lane(txn), slot, region_.open(txn, entry));
      return;
    case SlotState::held:
      return;
    case SlotState::free:
      break;
  }
  throw RegionDamaged{"a message is in no known state"};
}

void States::enter_ready(Txn& txn, const Message& message, int64_t since_ms) const {
  auto& [slot, entry, tenant] = message;
  if (is_inner(tenant)) throw RegionDamaged{"a message lies in an inner node"};
  const SlotState from = state_of(entry);
  const Opened<Entry> opened = region_.open(txn, entry);
  opened.set(&Entry::at_ms, since_ms);
  set_state(txn, message, SlotState::ready);
  note_end(txn, message, from);
  lanes().insert(txn, lane_of(txn, message), slot, opened);
  if (expires_ms(region_, entry) != kNever) heap().insert(txn, slot);
  const bool gathers = region_.root.terms.linger_ms > 0 || (tenant.blocks & kBlockGather) != 0;
  if (gathers) gathering().came(txn, entry.tenant, since_ms);
  if (tenant.lane.count != 1) {
    if (is_ranked(region_.root)) seats().reseat(txn, entry.tenant);  // it may go first
    return;
  }
  add_to(open_sums(txn, region_.root), region_.root.active_count, 1);
  // What gathers comes when it has.
  if ((tenant.blocks & kBlockGather) == 0)
    seats().arrive(txn, entry.tenant, {Costs(region_).of_newcomer(txn, entry, since_ms), since_ms});
}

void States::note_end(Txn& txn, const Message& message, SlotState from) const {
  if (from == SlotState::leased) limits().ended(txn, message.entry.tenant);
}

void States::enter_delayed(Txn& txn, const Message& message, int64_t due_ms) const {
  const SlotState from = state_of(message.entry);
  put(txn, message.entry.at_ms, due_ms);
  if (message.entry.deliveries != 0) add_to(txn, region_.root.returning, 1);
  set_state(txn, message, SlotState::delayed);
  if (due_ms != kNever) heap().insert(txn, message.slot);
  note_end(txn, message, from);
}

void States::enter_leased(Txn& txn, const Message& message, HolderIndex holder, int64_t until_ms) const {
  const Opened<Entry> entry = region_.open(txn, message.entry);
  entry.set(&Entry::at_ms, until_ms);
  entry.set(&Entry::holder, static_cast<uint16_t>(holder));
  if (has_holder(message.entry)) HolderList(region_).insert(txn, message, holder);
  set_state(txn, message, SlotState::leased);
  if (until_ms != kNever) heap().insert(txn, message.slot);
}

void States::enter_held(Txn& txn, const Message& message, int64_t since_ms) const {
  const SlotState from = state_of(message.entry);
  put(txn, message.entry.at_ms, since_ms);
  set_state(txn, message, SlotState::held);
  note_end(txn, message, from);
}

void States::enter_dead(Txn& txn, const Message& message, int64_t since_ms) const {
  const SlotState from = state_of(message.entry);
  put(txn, message.entry.at_ms, since_ms);
  set_state(txn, message, SlotState::dead);
  dead().insert(txn, dead_lane(txn), message.slot, region_.open(txn, message.entry));
  note_end(txn, message, from);
  Waits(region_).note_ended(txn, message.entry.id, Fate::other);
}

}  // namespace fq
