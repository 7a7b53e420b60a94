// preview_ranks - the part of a preview for turns that go by rank: see ranks.h.
//
// Of each inner node that is served its open seats are copied, and looked through for each turn: a preview of
// a few messages of a ring of 100,000 takes as many looks for each.
#pragma once

// System.
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>
// fq, this room.
#include "core/schedule/costs.h"
#include "core/schedule/ranked_seats.h"

namespace fq {

class RankedPreview {
 public:
  RankedPreview(const Region& region, uint32_t index) : region_(region), tenant_(region.tenant(index)) {
    vtime_ = tenant_.vtime;
    joins_ = tenant_.joins;
    if (is_inner(tenant_)) {
      copy_seats();
    } else {
      messages_.emplace(MessageKind{&region_}, tenant_.lane);
    }
  }

  /// The message that goes first of those that can be served, or kNoIndex.
  uint32_t peek() {
    if (messages_) return messages_->peek();
    const Seat* first = best(false);
    return first == nullptr ? kNoIndex : first->head;
  }
  /// The one whose turn it is; it has it. `stamps`: given out so far.
  uint32_t next(bool by_age, uint64_t& stamps) {
    if (messages_) return messages_->next();
    Seat* seat = best(by_age);
    if (seat == nullptr) return kNoIndex;
    if (seat->below == nullptr) seat->below = std::make_unique<RankedPreview>(region_, seat->index);
    const uint32_t slot = seat->below->next(by_age, stamps);
    if (slot == kNoIndex) region_damaged("a seat has nothing to serve");
    vtime_ = std::max(vtime_, seat->tag);
    const uint64_t cost = Costs(region_).of(region_.entry(slot)).turns;
    seat->tag = vtime_ + turn_of(region_.tenant(seat->index).weight_milli, cost);
    seat->sequence = joins_++;
    if (by_age) seat->stamp = stamps++;
    seat->head = seat->below->peek();
    return slot;
  }

 private:
  struct Seat {
    uint32_t index;
    uint32_t head;  // kNoIndex: nothing any more
    uint64_t tag, sequence, stamp;
    std::unique_ptr<RankedPreview> below;
  };

  void copy_seats() {
    const uint64_t open = open_sets(region_.root);
    const SeatKind kind{&region_};
    LaneWalk<SeatKind> walk(kind, tenant_.lane);
    for (uint32_t i; (i = walk.next()) != kNoIndex;) {
      const Tenant& at = region_.tenant(i);
      if ((kind.sets(i) & open) == 0 || Pools(region_).has_full_pool(at)) continue;
      Seat seat{i, region_.place(i).first, at.tag, at.sequence, region_.place(i).stamp, nullptr};
      if ((kind.sets(i) & ~(open & ~kSomePools)) != 0) {
        // What goes first of it may lack room.
        seat.below = std::make_unique<RankedPreview>(region_, i);
        seat.head = seat.below->peek();
      }
      if (seat.head != kNoIndex) seats_.push_back(std::move(seat));
    }
  }
  Seat* best(bool by_age) {
    const auto less = [&](const Seat& x, const Seat& y) {
      if (x.head == kNoIndex || y.head == kNoIndex) return x.head != kNoIndex && y.head == kNoIndex;
      if (by_age) return x.stamp < y.stamp;
      if (Ranks(region_).goes_before(x.head, y.head)) return true;
      if (Ranks(region_).goes_before(y.head, x.head)) return false;
      return x.tag != y.tag ? x.tag < y.tag : x.sequence < y.sequence;
    };
    const auto first = std::min_element(seats_.begin(), seats_.end(), less);
    return first == seats_.end() || first->head == kNoIndex ? nullptr : &*first;
  }

  const Region& region_;
  const Tenant& tenant_;
  uint64_t vtime_ = 0, joins_ = 0;
  std::optional<LaneWalk<MessageKind>> messages_;
  std::vector<Seat> seats_;
};

}  // namespace fq
