// starts - starts that are only thought of, held against the limits of those that would start.
#pragma once

// System.
#include <algorithm>
#include <cstdint>
#include <unordered_map>
// fq, this room.
#include "core/schedule/rings/control.h"

namespace fq {

class Starts {
 public:
  Starts(const Region& region, int64_t now_ms) : region_(region), now_ms_(now_ms) {}

  /// How many more of this node could start now, if none ends and no time passes.
  uint64_t left(uint32_t node) const;
  /// As far as the node and its pool say, and nothing above it.
  uint64_t left_at(uint32_t node) const;
  /// As far as what also counts starts of others says: the root, and its pools.
  uint64_t left_shared(uint32_t node) const;
  /// One of this leaf does. Needs: it can.
  void start(uint32_t leaf);

 private:
  /// Calls `visit(limit, room)` for each that counts starts of this node: itself, or its pool.
  template <class Visit>
  void limits_at(uint32_t node, Visit&& visit) const;
  /// And those above it.
  template <class Visit>
  void walk(uint32_t node, Visit&& visit) const;
  uint64_t room_left(uint64_t limit, uint64_t room) const {
    const auto found = started_.find(limit);
    return found == started_.end() ? room : room - std::min(room, found->second);
  }

  const Region& region_;
  int64_t now_ms_;
  std::unordered_map<uint64_t, uint64_t> started_;  // by node, or by pool behind kPool
};

}  // namespace fq
