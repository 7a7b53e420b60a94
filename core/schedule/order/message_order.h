// message_order - the order of two messages of one tenant.
//
// Those with a sort key before those without, by the key's value (core/base/sort_key.h); then the higher priority; then the older
// id. Messages without key and priority 0 come in id order and use the lane's list, so they cost O(1); the
// others always go to its tree, so that they never push plain ones out of the list.
#pragma once

// fq, this room.
#include "core/schedule/memory/extras.h"
#include "core/schedule/memory/lane.h"
#include "core/schedule/memory/text_pool.h"

namespace fq {

// A key's text ends with the message's priority, since rank cannot hold both.
inline constexpr uint32_t kKeyTailBytes = 4;

struct MessageKind {
  static constexpr uint8_t kInTree = kEntryInTree;
  static constexpr bool kSums = false;
  const Region* region;

  Entry& at(uint32_t i) const { return region->entry(i); }
  uint32_t most() const { return region->root.entries.capacity; }
  bool may_list(uint32_t, const Entry& entry) const {
    return (entry.flags & kEntryKeyed) == 0 && rank_of(*region, entry) == 0;
  }
  [[gnu::always_inline]] bool less(const Entry& x, const Entry& y) const {
    if (((x.flags | y.flags) & (kEntryKeyed | kEntryExtra)) != 0 || x.rank != y.rank) {
      if (const int order = compare_rank(x, y); order != 0) return order < 0;
    }
    return x.id < y.id;
  }

  /// By key and priority alone: below 0 where x goes first, 0 for equals.
  int compare_rank(const Entry& x, const Entry& y) const;
};

using MessageLane = LaneOps<MessageKind>;

/// The rank of a message: its priority, or the text of its key with the priority behind it. Needs: room for
/// that text.
uint32_t rank_add(Txn& txn, const Region& region, std::string_view key, int32_t priority);
/// The priority of a message, keyed or not.
int32_t priority_of(const Region& region, const Entry& entry);

}  // namespace fq
