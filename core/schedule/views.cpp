// views - looking at a schedule, and what is done to tenants by name.
#include "core/schedule/schedule.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/schedule/order/outcomes.h"
#include "core/schedule/state.h"

namespace fq {
namespace {

uint32_t index_of(TenantIndex tenant) { return static_cast<uint32_t>(tenant); }

std::optional<SlotIndex> slot_or_none(uint32_t slot) {
  if (slot == kNoIndex) return std::nullopt;
  return SlotIndex{slot};
}

}  // namespace

std::string Schedule::key_of(SlotIndex slot) const {
  const Entry& from = entry(slot);
  if ((from.flags & kEntryKeyed) == 0) return {};
  std::string text = text_of(region_, rank_of(region_, from));
  if (text.size() < kKeyTailBytes) throw RegionDamaged{"a sort key is too short"};
  text.resize(text.size() - kKeyTailBytes);
  return text;
}

int64_t Schedule::expires_ms(SlotIndex slot) const {
  const Entry& from = entry(slot);
  return state_of(from) == SlotState::ready ? fq::expires_ms(region_, from) : kNever;
}

bool Schedule::is_replaced(SlotIndex slot) const {
  const Entry& from = entry(slot);
  return has_extra(from) && (region_.extra(from.rank).flags & kExtraReplaced) != 0;
}

int64_t Schedule::ttl_ms(SlotIndex slot) const {
  const Entry& from = entry(slot);
  return has_extra(from) && from.deliveries == 0 ? region_.extra(from.rank).ttl_ms.get() : kNever;
}

const UniqueKey* Schedule::key_of_message(SlotIndex slot) const {
  const Entry& from = entry(slot);
  if (!has_extra(from) || region_.extra(from.rank).key == kNoIndex) return nullptr;
  return &region_.key(region_.extra(from.rank).key);
}

bool Schedule::has_expired(SlotIndex slot) const {
  const Entry& from = entry(slot);
  return has_extra(from) && (region_.extra(from.rank).flags & kExtraExpired) != 0;
}

int32_t Schedule::priority_of(SlotIndex slot) const { return fq::priority_of(region_, entry(slot)); }

std::optional<SlotIndex> Schedule::first_held(HolderIndex holder) const {
  const auto place = static_cast<uint16_t>(holder);
  if (place >= kHoldersMax || region_.root.holders[place].count == 0) return std::nullopt;
  return slot_or_none(region_.root.holders[place].head);
}

std::optional<SlotIndex> Schedule::next_held(SlotIndex slot) const { return slot_or_none(entry(slot).next); }

std::optional<SlotIndex> Schedule::first_ready(TenantIndex leaf) const {
  const Tenant& from = tenant(leaf);
  if (is_inner(from)) return std::nullopt;
  return slot_or_none(MessageLane(MessageKind{&region_}).first(from.lane));
}

size_t Schedule::oldest_dead(std::span<SlotIndex> slots) const {
  LaneWalk<DeadKind> walk(DeadKind{&region_}, region_.root.dead);
  size_t count = 0;
  for (uint32_t slot; count < slots.size() && (slot = walk.next()) != kNoIndex;) {
    if (state_of(region_.entry(slot)) != SlotState::dead) throw RegionDamaged{"a wrong dead letter"};
    slots[count++] = SlotIndex{slot};
  }
  return count;
}

std::optional<SlotIndex> Schedule::next_slot(SlotIndex from) const {
  for (auto i = static_cast<uint32_t>(from), end = slots_end(); i < end; ++i) {
    if (state_of(region_.entry(i)) != SlotState::free) return SlotIndex{i};
  }
  return std::nullopt;
}

std::optional<Schedule::OutcomeView> Schedule::outcome(MessageId id) const {
  const uint32_t place = outcome_find(region_, number(id));
  if (place == kNoIndex) return std::nullopt;
  const Entry& from = region_.entry(place);
  return OutcomeView{static_cast<RecordType>(from.height.get()), from.event_position, from.at_ms,
                     from.attempts};
}

bool Schedule::may_be_idle() const {
  const ScheduleRoot& root = region_.root;
  if (root.counts.leased != 0 || root.returning != 0) return false;
  return root.counts.ready == 0 || root.paused_count != 0;
}

uint64_t Schedule::ready_beside_paused() const {
  const bool all_paused = (region_.tenant(kRoot).blocks & kBlockPaused) != 0;
  return all_paused ? 0 : region_.root.counts.ready.get();
}

uint64_t Schedule::paused_ready(uint32_t from, uint32_t to) const {
  if (ready_beside_paused() == 0) return 0;
  const TenantTree tree(region_);
  uint64_t ready = 0;
  for (uint32_t i = from; i < to; ++i) {
    const uint32_t node = region_.arena.at(region_.root.controls, i).node;
    // The control of a node that is gone still names it, and the node may be another one by now.
    const Tenant& tenant = region_.tenant(node);
    if (!is_used(tenant) || tenant.control != i || (tenant.blocks & kBlockPaused) == 0) continue;
    // What is below one that is paused too is counted there.
    if (!tree.is_below_paused(node)) ready += tenant.counts.ready;
  }
  return ready;
}

Counts Schedule::counts() const {
  const RootCounters& from = region_.root.counters;
  return {from.pushed, from.popped,  from.acked,     from.retried,   from.released,
          from.buried, from.expired, from.cancelled, from.recoveries};
}

void Schedule::set_counts(Txn& txn, const Counts& counts) {
  RootCounters& to = region_.root.counters;
  txn.set(to.pushed, counts.pushed);
  txn.set(to.popped, counts.popped);
  txn.set(to.acked, counts.acked);
  txn.set(to.retried, counts.retried);
  txn.set(to.released, counts.released);
  txn.set(to.buried, counts.buried);
  txn.set(to.expired, counts.expired);
  txn.set(to.cancelled, counts.cancelled);
  txn.set(to.recoveries, counts.recoveries);
}

std::optional<TenantIndex> Schedule::find_tenant(std::string_view path) const {
  const uint32_t found = TenantTree(region_).find(path);
  if (found == kNoIndex) return std::nullopt;
  return TenantIndex{found};
}

std::string Schedule::path_of(TenantIndex tenant) const {
  return TenantTree(region_).path_of(index_of(tenant));
}

std::string_view Schedule::path_copy(TenantIndex tenant, std::span<char, kTextBytesMax> into) const {
  return TenantTree(region_).path_copy(index_of(tenant), into);
}

const Tenant& Schedule::tenant(TenantIndex tenant) const { return region_.tenant(index_of(tenant)); }

bool Schedule::is_below(TenantIndex tenant, TenantIndex ancestor) const {
  return TenantTree(region_).is_below(index_of(tenant), index_of(ancestor));
}

std::optional<TenantIndex> Schedule::next_leaf(TenantIndex from) const {
  for (uint32_t i = index_of(from), end = nodes_end(); i < end; ++i) {
    const Tenant& at = region_.tenant(i);
    if (is_used(at) && !is_inner(at)) return TenantIndex{i};
  }
  return std::nullopt;
}

std::vector<Blocker> Schedule::blockers_of(TenantIndex tenant) const {
  return Blockers(region_).all(index_of(tenant));
}
bool Schedule::is_blocked(TenantIndex tenant) const {
  return TenantTree(region_).is_blocked(index_of(tenant));
}

}  // namespace fq
