// dead_order - the dead letters of a queue, oldest first: which of them is kept no longer.
//
// They mostly come in order, so they lie in a lane's list; those that a rebuild puts back may go to its tree.
#pragma once

// fq, this room.
#include "core/schedule/memory/lane.h"

namespace fq {

struct DeadKind {
  static constexpr uint8_t kInTree = kEntryInTree;
  static constexpr bool kSums = false;
  const Region* region;

  Entry& at(uint32_t i) const { return region->entry(i); }
  uint32_t most() const { return region->root.entries.capacity; }
  static bool may_list(uint32_t, const Entry&) { return true; }
  static bool less(const Entry& x, const Entry& y) {
    return x.at_ms != y.at_ms ? x.at_ms < y.at_ms : x.id < y.id;
  }
};

using DeadLane = LaneOps<DeadKind>;

}  // namespace fq
