// preview_ranks - the part of a preview for turns that go by rank: see ranks.h.
//
// Of each inner node that is served its open seats are copied and put into a heap: a preview of a few hundred
// messages of a ring of 100,000 takes a look at each seat once, and a logarithm of them for each message. A
// seat whose place changes is put in anew; what is left of it further down is known by its version.
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
    take_new_place(*seat);
    return slot;
  }

 private:
  struct Seat {
    uint32_t index;
    uint32_t head;  // kNoIndex: nothing any more
    uint64_t tag, sequence, stamp;
    std::unique_ptr<RankedPreview> below;
    uint32_t version = 0;  // of its place
  };
  struct PlaceByRank {
    uint32_t seat, version;
    uint32_t head;
    uint64_t tag, sequence;
  };
  struct PlaceByAge {
    uint32_t seat, version;
    uint64_t stamp;
  };
  auto behind_by_rank() const {
    return [this](const PlaceByRank& y, const PlaceByRank& x) {
      if (Ranks(region_).goes_before(x.head, y.head)) return true;
      if (Ranks(region_).goes_before(y.head, x.head)) return false;
      if (x.tag != y.tag) return x.tag < y.tag;
      return x.sequence != y.sequence ? x.sequence < y.sequence : x.seat < y.seat;
    };
  }
  static bool is_behind_by_age(const PlaceByAge& y, const PlaceByAge& x) {
    return x.stamp != y.stamp ? x.stamp < y.stamp : x.seat < y.seat;
  }

  void copy_seats() {
    const uint64_t open = open_sets(region_.root);
    const SeatKind kind{&region_};
    LaneWalk<SeatKind> walk(kind, tenant_.lane);
    for (uint32_t i; (i = walk.next()) != kNoIndex;) {
      const Tenant& at = region_.tenant(i);
      if ((kind.sets(i) & open) == 0 || Pools(region_).has_full_pool(at)) continue;
      Seat seat{i, region_.place(i).first, at.tag, at.sequence, region_.place(i).stamp, nullptr, 0};
      if ((kind.sets(i) & ~(open & ~kSomePools)) != 0) {
        // What goes first of it may lack room.
        seat.below = std::make_unique<RankedPreview>(region_, i);
        seat.head = seat.below->peek();
      }
      if (seat.head != kNoIndex) seats_.push_back(std::move(seat));
    }
    by_rank_.reserve(seats_.size());
    for (uint32_t at = 0; at < seats_.size(); ++at) by_rank_.push_back(place_by_rank(at));
    std::make_heap(by_rank_.begin(), by_rank_.end(), behind_by_rank());
  }
  PlaceByRank place_by_rank(uint32_t at) const {
    const Seat& seat = seats_[at];
    return {at, seat.version, seat.head, seat.tag, seat.sequence};
  }
  /// Only every so many turns go by age, and mostly nobody asks for so many.
  void sort_by_age() {
    sorted_by_age_ = true;
    for (uint32_t at = 0; at < seats_.size(); ++at) {
      if (seats_[at].head != kNoIndex) by_age_.push_back({at, seats_[at].version, seats_[at].stamp});
    }
    std::make_heap(by_age_.begin(), by_age_.end(), is_behind_by_age);
  }
  void take_new_place(Seat& seat) {
    ++seat.version;
    if (seat.head == kNoIndex) return;
    const auto at = static_cast<uint32_t>(&seat - seats_.data());
    by_rank_.push_back(place_by_rank(at));
    std::push_heap(by_rank_.begin(), by_rank_.end(), behind_by_rank());
    if (!sorted_by_age_) return;
    by_age_.push_back({at, seat.version, seat.stamp});
    std::push_heap(by_age_.begin(), by_age_.end(), is_behind_by_age);
  }
  template <class Heap, class IsBehind>
  Seat* first_of(Heap& heap, IsBehind is_behind) {
    while (!heap.empty() && heap.front().version != seats_[heap.front().seat].version) {
      std::pop_heap(heap.begin(), heap.end(), is_behind);
      heap.pop_back();
    }
    return heap.empty() ? nullptr : &seats_[heap.front().seat];
  }
  Seat* best(bool by_age) {
    if (!by_age) return first_of(by_rank_, behind_by_rank());
    if (!sorted_by_age_) sort_by_age();
    return first_of(by_age_, is_behind_by_age);
  }

  const Region& region_;
  const Tenant& tenant_;
  uint64_t vtime_ = 0, joins_ = 0;
  std::optional<LaneWalk<MessageKind>> messages_;
  std::vector<Seat> seats_;
  // Heaps; what is in them is what was when it was put there.
  std::vector<PlaceByRank> by_rank_;
  std::vector<PlaceByAge> by_age_;
  bool sorted_by_age_ = false;
};

}  // namespace fq
