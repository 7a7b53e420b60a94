// views - looking at messages, one by one and all together. Changes nothing.
#pragma once

// System.
#include <algorithm>
#include <optional>
#include <span>
#include <string>
// fq, this room.
#include "core/schedule/order/message_order.h"

namespace fq {

class Views {
 public:
  explicit Views(const Region& region) : region_(region) {}

  /// Ready and not started in time: dead from then on; kNever where that cannot be.
  int64_t expires_ms(SlotIndex slot) const;
  int64_t ttl_ms(SlotIndex slot) const;  // that still holds, from when it is due; kNever: none
  bool has_ttl(SlotIndex slot) const;    // or had until its first start: a kick takes it away
  bool has_expired(SlotIndex slot) const { return has_flag(slot, kExtraExpired); }
  std::string key_of(SlotIndex slot) const;  // order-preserving bytes; allocates: not under a hot path
  int32_t priority_of(SlotIndex slot) const { return fq::priority_of(region_, entry(slot)); }
  /// It has another payload than its push, and was not copied forward since.
  bool is_replaced(SlotIndex slot) const { return has_flag(slot, kExtraReplaced); }
  /// Held, and due so long after its release.
  bool is_due_from_release(SlotIndex slot) const { return has_flag(slot, kExtraFromRelease); }
  /// Held, and on its way from one queue to another.
  bool is_in_transit(SlotIndex slot) const { return has_flag(slot, kExtraTransit); }
  uint64_t overhead_of(SlotIndex slot) const { return overhead_bytes(entry(slot).overhead); }
  /// The key that a message has, held or not.
  const UniqueKey* key_of_message(SlotIndex slot) const;
  /// Kicked now, whether it would have its key again, or another has that; none: it has no key.
  std::optional<bool> has_key_if_kicked(SlotIndex slot) const;

  /// Of two messages of one tenant: which has its turn first.
  bool is_before(const Entry& a, const Entry& b) const { return MessageKind{&region_}.less(a, b); }

  /// The first lease that this process holds, or none.
  std::optional<SlotIndex> first_held(HolderIndex holder) const;
  std::optional<SlotIndex> next_held(SlotIndex slot) const {
    return index_or_none<SlotIndex>(entry(slot).next);
  }
  /// Those that have been dead the longest, as many as `slots` takes; returns how many that are.
  size_t oldest_dead(std::span<SlotIndex> slots) const;
  /// All messages in this state, in no order, found without a look at every slot; returns how many there are.
  /// None: more than `slots` takes, or too many timers of other things lie among theirs, or they are held,
  /// for which there is no list. Needs: not free.
  std::optional<size_t> few(SlotState state, std::span<SlotIndex> slots) const;
  /// The next used slot at or after `from`. Without bound: where others wait for the lock, a part of the
  /// slots before slots_end() is looked at instead.
  std::optional<SlotIndex> next_slot(SlotIndex from) const;
  /// Behind the last slot that was ever used.
  uint32_t slots_end() const {
    return std::min<uint32_t>(region_.root.entry_supply.high_water, region_.root.entries.capacity);
  }

  /// Nothing is ready or leased, and nothing is on its way back after a retry or release. Messages of a
  /// paused node, and of all below it, do not count as ready. False: it is not idle. True: it is where
  /// ready_beside_paused() is paused_ready() of all settings.
  bool may_be_idle() const;
  /// All that is ready, or none where the whole queue is paused.
  uint64_t ready_beside_paused() const;
  /// Ready below what is paused, as far as the settings [from, to) say; each counts once.
  uint64_t paused_ready(uint32_t from, uint32_t to) const;
  uint32_t controls_end() const { return region_.root.control_supply.high_water; }

 private:
  const Entry& entry(SlotIndex slot) const { return region_.entry(static_cast<uint32_t>(slot)); }
  bool has_flag(SlotIndex slot, uint32_t flag) const {
    return has_extra(entry(slot)) && (region_.extra(entry(slot).rank).flags & flag) != 0;
  }

  void timed(SlotState state, std::span<SlotIndex> slots, size_t& count) const;
  void held_by_processes(std::span<SlotIndex> slots, size_t& count) const;

  const Region& region_;
};

}  // namespace fq
