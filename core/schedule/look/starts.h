// starts - starts that are only thought of, held against the limits of those that would start.
#pragma once

// System.
#include <cstdint>
#include <unordered_map>
// fq, this room.
#include "core/schedule/rings/control.h"

namespace fq {

class Starts {
 public:
  Starts(const Region& region, int64_t now_ms) : region_(region), now_ms_(now_ms) {}

  /// How many more of this leaf could start now, if none ends and no time passes.
  uint64_t left(uint32_t leaf) const;
  /// One does. False: it cannot, and does not count.
  bool start(uint32_t leaf);

 private:
  /// Calls `visit(limit, room)` for each that counts its starts: a node's, or a pool's.
  template <class Visit>
  void walk(uint32_t leaf, Visit&& visit) const;
  uint64_t started(uint64_t limit) const {
    const auto found = started_.find(limit);
    return found == started_.end() ? 0 : found->second;
  }

  const Region& region_;
  int64_t now_ms_;
  std::unordered_map<uint64_t, uint64_t> started_;  // by node, or by pool behind kPool
};

}  // namespace fq
