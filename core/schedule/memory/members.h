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
  static constexpr bool kSums = true;
  const Region* region;

  Member& at(uint32_t i) const { return region->place(i).member; }
  uint32_t most() const { return region->root.places.capacity; }
  static bool may_list(uint32_t, const Member&) { return false; }

  uint32_t sum_of(uint32_t i) const { return i == kNoIndex ? 0 : at(i).below.get(); }
  uint32_t sum_at(uint32_t i) const {
    const Member& member = at(i);
    return member.leased + sum_of(member.prev) + sum_of(member.next);
  }
  void sum(Txn& txn, uint32_t i) const { put(txn, at(i).below, sum_at(i)); }
  void take_sum(Txn& txn, uint32_t to, uint32_t from) const { put(txn, at(to).below, sum_of(from)); }

  bool less(const Member& x, const Member& y) const {
    return text_compare(*region, region->tenant(x.node).name, region->tenant(y.node).name) < 0;
  }
};
using MemberLane = LaneOps<MemberKind>;

/// The leases of all members whose path begins with `prefix`, each once. At most two ways down the tree.
class LeasesBelow {
 public:
  LeasesBelow(const Region& region, std::string_view prefix) : kind_{&region}, prefix_(prefix) {}

  uint32_t in(const Lane& members) const {
    StepLimit limit(kTreeHeightMax);
    for (uint32_t i = members.root; i != kNoIndex; limit.step()) {
      const int order = compare(i);
      if (order == 0) {
        const Member& top = kind_.at(i);
        return top.leased + on_one_side(top.prev, &Member::next, &Member::prev) +
               on_one_side(top.next, &Member::prev, &Member::next);
      }
      i = order < 0 ? kind_.at(i).next : kind_.at(i).prev;
    }
    return 0;
  }

 private:
  using Link = Shared<uint32_t> Member::*;

  /// Of a subtree in which paths without the prefix lie on one side only; `towards` leads away from them.
  uint32_t on_one_side(uint32_t i, Link towards, Link away) const {
    uint32_t sum = 0;
    for (StepLimit limit(kTreeHeightMax); i != kNoIndex; limit.step()) {
      const Member& member = kind_.at(i);
      const bool begins = compare(i) == 0;
      if (begins) sum += member.leased + kind_.sum_of(member.*towards);
      i = begins ? member.*away : member.*towards;
    }
    return sum;
  }
  int compare(uint32_t i) const {
    std::array<char, kTextBytesMax> buffer;
    const std::string_view path = text_copy(*kind_.region, kind_.region->tenant(i).name, buffer);
    return path.substr(0, prefix_.size()).compare(prefix_);
  }

  MemberKind kind_;
  std::string_view prefix_;
};

}  // namespace fq
