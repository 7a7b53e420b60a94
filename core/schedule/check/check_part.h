// check_part - what the parts of a check share: the schedule, what they count of it, and the breaches found.
#pragma once

// System.
#include <algorithm>
#include <array>
#include <string>
#include <vector>
// fq, this room.
#include "core/schedule/memory/id_index.h"
#include "core/schedule/memory/members.h"
#include "core/schedule/schedule.h"
#include "core/schedule/states/state.h"

namespace fq {

/// Messages by state, and the bytes of all but the dead.
struct NodeSums {
  std::array<uint32_t, 6> of_state{};
  uint64_t bytes = 0;
};

/// The counts of the walks, to be compared with those of the root.
struct CheckTally {
  std::vector<NodeSums> of_nodes;  // of a node and all below it
  std::vector<uint64_t> charges;   // ticks of what runs below the node
  uint64_t used_entries = 0, used_tenants = 0, named = 0, leaves = 0, active = 0, parked = 0;
  std::array<uint64_t, 6> of_all{};
  uint64_t all_bytes = 0, journal_bytes = 0, dead_bytes = 0, timers = 0, held = 0, text_cells = 0,
           returning = 0, extras = 0, steps = 0;
};

/// One check of one schedule.
class CheckScene {
 public:
  explicit CheckScene(const Schedule& schedule) : schedule_(schedule) {}

  const Schedule& schedule() const { return schedule_; }
  CheckTally& tally() { return tally_; }
  void fault(std::string what) {
    if (faults_.size() < kFaultsMax) faults_.push_back(std::move(what));
  }
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  static constexpr size_t kFaultsMax = 100;  // more are of no help

  const Schedule& schedule_;
  CheckTally tally_;
  std::vector<std::string> faults_;
};

/// The base of the parts: their shorthands, and the walks that several make.
class CheckPart {
 protected:
  explicit CheckPart(CheckScene& scene)
      : scene_(scene), schedule_(scene.schedule()), region_(schedule_.region()), tally_(scene.tally()) {}

  void fault(std::string what) { scene_.fault(std::move(what)); }
  void expect(bool holds, const char* what, uint32_t index) {
    if (!holds) fault(std::string(what) + " (" + std::to_string(index) + ")");
  }
  /// How many elements are in it.
  template <class Kind>
  uint64_t check_index(Kind kind, const char* what);
  template <class Kind>
  void check_lane(Kind kind, const Lane& lane, uint32_t owner);

  CheckScene& scene_;
  const Schedule& schedule_;
  const Region& region_;
  CheckTally& tally_;

 private:
  template <class Kind>
  uint32_t check_tree(Kind kind, uint32_t i, uint32_t depth, uint32_t& count, uint32_t owner);
};

template <class Kind>
uint64_t CheckPart::check_index(Kind kind, const char* what) {
  uint64_t count = 0;
  const uint32_t buckets = kind.bucket_count();
  for (uint32_t b = 0; b < buckets; ++b) {
    StepLimit limit(kChainMax);
    for (uint32_t i = kind.cell(b); i != kNoIndex; i = kind.at(i).chain, ++count) {
      limit.step();
      expect(LinearHash<Kind>::bucket_of(Kind::hash_of(kind.at(i)), buckets) == b, what, i);
    }
  }
  return count;
}

// L1 to L3.
template <class Kind>
void CheckPart::check_lane(Kind kind, const Lane& lane, uint32_t owner) {
  uint32_t seen = 0, last = kNoIndex;
  LaneWalk<Kind> walk(kind, lane);
  for (uint32_t i; (i = walk.next()) != kNoIndex; last = i, ++seen) {
    if (last != kNoIndex) expect(kind.less(kind.at(last), kind.at(i)), "L1: a lane out of order", owner);
  }
  expect(seen == lane.count, "L3: a lane that does not count right", owner);
  uint32_t listed = 0, prev = kNoIndex;
  StepLimit limit(lane.count + 1);
  for (uint32_t i = lane.head; i != kNoIndex; prev = i, i = kind.at(i).next) {
    limit.step();
    ++listed;
    expect(kind.at(i).prev == prev && (kind.at(i).flags & Kind::kInTree) == 0, "L1: a broken list", owner);
  }
  expect(lane.tail == prev, "L1: a list with another tail", owner);
  uint32_t in_tree = 0;
  check_tree(kind, lane.root, kTreeHeightMax, in_tree, owner);
  expect(listed + in_tree == lane.count, "L3: list and tree are not the lane", owner);
}

template <class Kind>
uint32_t CheckPart::check_tree(Kind kind, uint32_t i, uint32_t depth, uint32_t& count, uint32_t owner) {
  if (i == kNoIndex) return 0;
  const uint32_t most =
      std::max<uint32_t>(region_.root.entry_supply.high_water, region_.root.tenant_supply.high_water);
  if (depth == 0 || ++count > most) throw RegionDamaged{"L2: a tree is too high"};
  const uint32_t left = check_tree(kind, kind.at(i).prev, depth - 1, count, owner);
  const uint32_t right = check_tree(kind, kind.at(i).next, depth - 1, count, owner);
  const uint32_t height = 1 + std::max(left, right);
  expect(kind.at(i).height == height && left <= right + 1 && right <= left + 1, "L2: a tree out of balance",
         owner);
  expect((kind.at(i).flags & Kind::kInTree) != 0, "L3: a tree element that does not say so", owner);
  if constexpr (std::is_same_v<Kind, MemberKind>)
    expect(kind.sum_of(i) == kind.sum_at(i), "P6: a tree element that does not know what is below it", owner);
  return height;
}

}  // namespace fq
