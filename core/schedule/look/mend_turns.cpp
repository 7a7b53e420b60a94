#include "core/schedule/look/mend_turns.h"

// System.
#include <algorithm>
#include <array>
// fq, this room.
#include "core/schedule/order/message_order.h"
#include "core/schedule/rings/seats.h"
#include "core/schedule/states/state.h"

namespace fq {
namespace {

class TurnMender {
 public:
  TurnMender(Txn& txn, const Schedule& schedule)
      : txn_(txn), schedule_(schedule), region_(schedule.region()), hangs_(schedule.tenants().nodes_end()) {}

  std::vector<SlotIndex> mend() {
    take_apart();
    std::vector<SlotIndex> ready = find_ready();
    for (const SlotIndex slot : ready) fill_lane(static_cast<uint32_t>(slot));
    for (auto level = by_level_.rbegin(); level != by_level_.rend(); ++level) {
      for (const uint32_t i : *level) {
        if (i != kRoot && hangs_[i] && can_be_served(region_.tenant(i))) Seats(region_).sit_down(txn_, i);
      }
    }
    return ready;
  }

 private:
  /// Empty lanes, and which nodes hang in the tree.
  void take_apart() {
    for (uint32_t i = 0; i < hangs_.size(); ++i) {
      Tenant& node = region_.tenant(i);
      if (!is_used(node)) continue;
      LaneOps<SeatKind>::clear(txn_, node.lane);
      set_flag(txn_, node, kTenantInTree | kTenantSeated, false);
      if (node.level < by_level_.size()) by_level_[node.level].push_back(i);
    }
    for (const std::vector<uint32_t>& level : by_level_) {
      for (const uint32_t i : level) hangs_[i] = i == kRoot || hangs_below(region_.tenant(i));
    }
  }

  bool hangs_below(const Tenant& node) const {
    if (node.parent >= hangs_.size() || !hangs_[node.parent]) return false;
    const Tenant& parent = region_.tenant(node.parent);
    return is_inner(parent) && parent.level + 1 == node.level;
  }

  std::vector<SlotIndex> find_ready() {
    std::vector<SlotIndex> ready;
    for (uint32_t slot = 0, end = schedule_.views().slots_end(); slot < end; ++slot) {
      Entry& entry = region_.entry(slot);
      if (state_of(entry) != SlotState::ready || !has_order(entry)) continue;
      put(txn_, entry.flags, static_cast<uint8_t>(entry.flags & ~unsigned{kEntryInTree}));
      ready.push_back(SlotIndex{slot});
    }
    const MessageKind order{&region_};
    std::sort(ready.begin(), ready.end(), [&](SlotIndex a, SlotIndex b) {
      const Entry& x = schedule_.messages().entry(a);
      const Entry& y = schedule_.messages().entry(b);
      return x.tenant != y.tenant ? x.tenant < y.tenant : order.less(x, y);
    });
    return ready;
  }

  /// Its key may be newer or older than it, if it came meanwhile.
  bool has_order(const Entry& entry) const try {
    return (entry.flags & (kEntryKeyed | kEntryExtra)) == 0 || priority_of(region_, entry) <= INT32_MAX;
  } catch (const RegionDamaged&) {
    return false;
  }

  void fill_lane(uint32_t slot) {
    Entry& entry = region_.entry(slot);
    if (entry.tenant >= hangs_.size() || !hangs_[entry.tenant]) return;
    Tenant& leaf = region_.tenant(entry.tenant);
    if (!is_inner(leaf))
      MessageLane(MessageKind{&region_})
          .insert(txn_, region_.open(txn_, leaf).part(&Tenant::lane), slot, region_.open(txn_, entry));
  }

  Txn& txn_;
  const Schedule& schedule_;
  const Region& region_;
  std::vector<bool> hangs_;
  std::array<std::vector<uint32_t>, kDepthMax + 1> by_level_;
};

}  // namespace

std::vector<SlotIndex> mend_turns(Txn& txn, const Schedule& schedule) {
  return TurnMender(txn, schedule).mend();
}

}  // namespace fq
