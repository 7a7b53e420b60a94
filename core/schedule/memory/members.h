// members - the nodes that are in one pool, ordered by their path: those below a node lie side by side.
#pragma once

// System.
#include <array>
// fq, this room.
#include "core/schedule/memory/lane.h"
#include "core/schedule/memory/text_pool.h"

namespace fq {

struct MemberKind {
  static constexpr uint8_t kInTree = 1;
  static constexpr bool kSums = false;
  const Region* region;

  Member& at(uint32_t i) const { return region->place(i).member; }
  uint32_t most() const { return region->root.places.capacity; }
  static bool may_list(uint32_t, const Member&) { return false; }
  bool less(const Member& x, const Member& y) const {
    return text_compare(*region, region->tenant(x.node).name, region->tenant(y.node).name, 0) < 0;
  }
};
using MemberLane = LaneOps<MemberKind>;

/// Calls `visit(node)` for each member whose path begins with `prefix`, in order.
template <class Visit>
void visit_members(const Region& region, uint32_t i, std::string_view prefix, Visit visit,
                   uint32_t depth = 0) {
  if (i == kNoIndex) return;
  if (depth == kTreeHeightMax) region_damaged("a tree is too high");
  const Member& member = region.place(i).member;
  int order = 0;
  {
    std::array<char, kTextBytesMax> buffer;
    const std::string_view path = text_copy(region, region.tenant(i).name, buffer);
    order = path.substr(0, prefix.size()).compare(prefix);
  }
  if (order >= 0) visit_members(region, member.prev, prefix, visit, depth + 1);
  if (order == 0) visit(i);
  if (order <= 0) visit_members(region, member.next, prefix, visit, depth + 1);
}

}  // namespace fq
