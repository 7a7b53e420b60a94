// rivals - those beside a node: how many turns they get before it has had its own, and between two of them.
//
// A seat's turns lie one turn of its own apart (see seats.h), so those that come before a given one of
// another seat can be counted without serving them. With no new message and no node blocked or freed, the
// count comes true, but for turns at the very same time, which count as before it. Only where each message
// costs one turn.
//
// Looks at nodes in the order of their index, some at a time, so that no process has to wait for it: the
// nodes may have changed in between.
#pragma once

// System.
#include <algorithm>
// fq, this room.
#include "core/schedule/rings/seats.h"

namespace fq {

class Rivals {
 public:
  /// The next `turns` of this node, which is not the root.
  Rivals(const Region& region, uint32_t node, uint64_t turns)
      : node_(node), parent_(region.tenant(node).parent), turns_(turns) {
    const Tenant& tenant = region.tenant(node);
    weight_ = tenant.weight_milli;
    const uint64_t first = std::max<uint64_t>(tenant.tag, region.tenant(parent_).vtime);
    last_tag_ = first + (turns - std::min<uint64_t>(turns, 1)) * turn_of(tenant.weight_milli);
  }

  /// Looks at those from `from` to before `to`.
  void look(const Region& region, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; ++i) {
      const Tenant& other = region.tenant(i);
      if (i != node_ && is_used(other) && other.parent == parent_ && i != static_cast<uint32_t>(kRootTenant))
        count(other);
    }
  }

  uint32_t node() const { return node_; }
  uint32_t parent() const { return parent_; }
  /// Of all below the parent, until the node has had its last one: at the most.
  uint64_t turns() const { return turns_; }
  /// That any of the others gets between two of the node's.
  uint64_t between() const { return weight_ == 0 ? 0 : (heaviest_ + weight_ - 1) / weight_; }

 private:
  void count(const Tenant& other) {
    if (other.lane.count == 0) return;
    heaviest_ = std::max<uint64_t>(heaviest_, other.weight_milli);
    if (!is_seated(other) || other.tag > last_tag_) return;
    const uint64_t in_time = (last_tag_ - other.tag) / std::max<uint64_t>(1, turn_of(other.weight_milli)) + 1;
    turns_ +=
        std::min<uint64_t>(in_time, is_inner(other) ? other.counts.ready.get() : other.lane.count.get());
  }

  uint32_t node_, parent_;
  uint64_t turns_;
  uint64_t weight_ = 0, last_tag_ = 0;
  uint64_t heaviest_ = 0;
};

}  // namespace fq
