// views - see views.h.
#include "core/schedule/views.h"

// fq, this room.
#include "core/schedule/memory/state_counts.h"
#include "core/schedule/order/dead_order.h"
#include "core/schedule/order/delay_heap.h"
#include "core/schedule/order/message_order.h"
#include "core/schedule/order/unique_keys.h"
#include "core/schedule/tree/tenant_tree.h"

namespace fq {

std::string Views::key_of(SlotIndex slot) const {
  const Entry& from = entry(slot);
  if ((from.flags & kEntryKeyed) == 0) return {};
  std::string text = text_of(region_, rank_of(region_, from));
  if (text.size() < kKeyTailBytes) throw RegionDamaged{"a sort key is too short"};
  text.resize(text.size() - kKeyTailBytes);
  return text;
}

int64_t Views::expires_ms(SlotIndex slot) const {
  const Entry& from = entry(slot);
  return state_of(from) == SlotState::ready ? fq::expires_ms(region_, from) : kNever;
}

int64_t Views::ttl_ms(SlotIndex slot) const {
  const Entry& from = entry(slot);
  return has_extra(from) && from.deliveries == 0 ? region_.extra(from.rank).ttl_ms.get() : kNever;
}

bool Views::has_ttl(SlotIndex slot) const {
  const Entry& from = entry(slot);
  return has_extra(from) && region_.extra(from.rank).ttl_ms != kNever;
}

const UniqueKey* Views::key_of_message(SlotIndex slot) const {
  const Entry& from = entry(slot);
  if (!has_extra(from) || region_.extra(from.rank).key == kNoIndex) return nullptr;
  return &region_.key(region_.extra(from.rank).key);
}

std::optional<bool> Views::has_key_if_kicked(SlotIndex slot) const {
  const Entry& of = entry(slot);
  const uint32_t key = has_extra(of) ? region_.extra(of.rank).key.get() : kNoIndex;
  if (key == kNoIndex) return std::nullopt;
  return !UniqueKeys(region_).is_anothers(key);
}

std::optional<SlotIndex> Views::first_held(HolderIndex holder) const {
  const auto place = static_cast<uint16_t>(holder);
  if (place >= kHoldersMax || region_.root.holders[place].count == 0) return std::nullopt;
  return index_or_none<SlotIndex>(region_.root.holders[place].head);
}

size_t Views::oldest_dead(std::span<SlotIndex> slots) const {
  LaneWalk<DeadKind> walk(DeadKind{&region_}, region_.root.dead);
  size_t count = 0;
  for (uint32_t slot; count < slots.size() && (slot = walk.next()) != kNoIndex;) {
    if (state_of(region_.entry(slot)) != SlotState::dead) throw RegionDamaged{"a wrong dead letter"};
    slots[count++] = SlotIndex{slot};
  }
  return count;
}

std::optional<size_t> Views::few(SlotState state, std::span<SlotIndex> slots) const {
  const CountsNow counts(region_.root.counts);
  const uint32_t most = counts.*kCountOf<CountsNow>[static_cast<size_t>(state)];
  if (most > slots.size()) return std::nullopt;
  size_t count = 0;
  if (state == SlotState::dead) count = oldest_dead(slots);
  if (state == SlotState::leased) held_by_processes(slots, count);
  if (state == SlotState::delayed || state == SlotState::leased) timed(state, slots, count);
  return count == most ? std::optional(count) : std::nullopt;
}

/// Those that have a timer, unless there are too many timers to look at.
void Views::timed(SlotState state, std::span<SlotIndex> slots, size_t& count) const {
  const ScheduleRoot& root = region_.root;
  if (root.heap_count > slots.size()) return;
  for (uint32_t i = 0; i < root.heap_count && count < slots.size(); ++i) {
    const uint32_t cell = region_.arena.at(root.heap, i).index;
    if (is_of_message(cell) && state_of(region_.entry(cell)) == state) slots[count++] = SlotIndex{cell};
  }
}

void Views::held_by_processes(std::span<SlotIndex> slots, size_t& count) const {
  for (uint32_t i = 0; i < kHoldersMax; ++i) {
    std::optional<SlotIndex> slot = first_held(HolderIndex{static_cast<uint16_t>(i)});
    for (; slot && count < slots.size(); slot = next_held(*slot)) slots[count++] = *slot;
  }
}

std::optional<SlotIndex> Views::next_slot(SlotIndex from) const {
  for (auto i = static_cast<uint32_t>(from), end = slots_end(); i < end; ++i) {
    if (state_of(region_.entry(i)) != SlotState::free) return SlotIndex{i};
  }
  return std::nullopt;
}

bool Views::may_be_idle() const {
  const ScheduleRoot& root = region_.root;
  if (root.counts.leased != 0 || root.returning != 0) return false;
  return root.counts.ready == 0 || root.paused_count != 0;
}

uint64_t Views::ready_beside_paused() const {
  const bool all_paused = (region_.tenant(kRoot).blocks & kBlockPaused) != 0;
  return all_paused ? 0 : region_.root.counts.ready.get();
}

uint64_t Views::paused_ready(uint32_t from, uint32_t to) const {
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

}  // namespace fq
