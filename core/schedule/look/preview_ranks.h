// preview_ranks - the part of a preview for turns that go by rank: see ranks.h.
//
// Of each inner node only as much of its ring's tree is looked into as is asked for: the candidates for the
// next turn lie in a heap, seats and subtrees not looked into yet, which stand where their first seat does. A
// seat whose place changes is put in anew; its old entry further down is known by its version. What a limit
// that is used up takes from a seat is seen when its turn comes: until then it stands too far in front.
#pragma once

// System.
#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>
// fq, this room.
#include "core/schedule/look/starts.h"
#include "core/schedule/rings/costs.h"
#include "core/schedule/rings/ranked_seats.h"

namespace fq {

class RankedPreview {
 public:
  RankedPreview(const Region& region, uint32_t index, const Starts* starts, uint32_t depth = 0)
      : region_(region),
        tenant_(region.tenant(index)),
        index_(index),
        starts_(starts),
        open_(open_sets(region.root)),
        depth_(depth) {
    if (depth > kDepthMax) region_damaged("the tenant tree is too deep");
    vtime_ = tenant_.vtime;
    expected_ticks_ = expected_ticks(tenant_);
    joins_ = tenant_.joins;
    if (is_inner(tenant_)) {
      by_rank_.emplace(*this, false);
    } else {
      messages_.emplace(MessageKind{&region_}, tenant_.lane);
    }
  }

  RankedPreview(const RankedPreview&) = delete;  // its candidates refer to it
  RankedPreview& operator=(const RankedPreview&) = delete;

  /// The message that goes first of those that can be served, or kNoIndex.
  uint32_t peek() {
    if (starts_ != nullptr && starts_->left_at(index_) == 0) return kNoIndex;
    if (messages_) return messages_->peek();
    const Seat* first = best(false);
    return first == nullptr ? kNoIndex : first->head;
  }
  /// The one whose turn it is; it has it. `stamps`: given out so far.
  uint32_t next(bool by_age, uint64_t& stamps) {
    if (messages_) return messages_->next();
    Seat* seat = best(by_age);
    if (seat == nullptr) return kNoIndex;
    const uint32_t slot = below(*seat).next(by_age, stamps);
    if (slot == kNoIndex) region_damaged("a seat has nothing to serve");
    const Cost cost = Costs(region_).of(region_.entry(slot));
    const uint32_t weight = region_.tenant(seat->index).weight_milli;
    const uint64_t now = std::max(vtime_, seat->tag);
    vtime_ = clock_after(vtime_, seat->tag, weight, seat->below->expected_ticks_);
    seat->below->expected_ticks_ += ticks_of(cost.rough);
    seat->tag = now + turn_of(weight, cost.turns);
    seat->sequence = joins_++;
    if (by_age) seat->stamp = stamps++;
    seat->head = seat->below->peek();
    take_new_place(*seat);
    return slot;
  }

 private:
  struct Seat {
    uint32_t index;
    uint32_t head;  // kNoIndex: nothing, or nothing any more
    uint64_t tag, sequence, stamp;
    std::unique_ptr<RankedPreview> below;
    uint32_t version = 0;  // of its place
  };
  /// A candidate for the next turn, and its place or, of a subtree, that of the first seat in it.
  struct Candidate {
    uint32_t index;
    bool is_subtree;
    uint32_t version;
    uint32_t head;
    uint64_t tag, sequence, stamp;
  };

  class Candidates {
   public:
    Candidates(RankedPreview& preview, bool by_age)
        : preview_(preview), by_age_(by_age), limit_(preview.tenant_.lane.count) {
      add_subtree(preview_.tenant_.lane.root);
    }
    Seat* first() {
      while (!heap_.empty()) {
        const Candidate top = heap_.front();
        Seat* seat = top.is_subtree ? nullptr : &preview_.seat(top.index);
        if (seat != nullptr && seat->version == top.version) return seat;
        std::pop_heap(heap_.begin(), heap_.end(), Behind{*this});
        heap_.pop_back();
        if (!top.is_subtree) continue;
        limit_.step();
        add(preview_.seat(top.index));
        add_subtree(preview_.region_.tenant(top.index).prev);
        add_subtree(preview_.region_.tenant(top.index).next);
      }
      return nullptr;
    }
    void add(const Seat& seat) {
      if (seat.head == kNoIndex) return;
      push({seat.index, false, seat.version, seat.head, seat.tag, seat.sequence, seat.stamp});
    }

   private:
    void add_subtree(uint32_t i) {
      const SeatSum sum = SeatKind{&preview_.region_}.sum_of(i);
      const uint32_t first = by_age_ ? sum.oldest : sum.best;
      if ((sum.sets & preview_.open_) == 0 || first == kNoIndex) return;
      const Tenant& tenant = preview_.region_.tenant(first);
      const Place& place = preview_.region_.place(first);
      push({i, true, 0, place.first, tenant.tag, tenant.sequence, place.stamp});
    }
    void push(const Candidate& candidate) {
      heap_.push_back(candidate);
      std::push_heap(heap_.begin(), heap_.end(), Behind{*this});
    }
    bool goes_before(const Candidate& x, const Candidate& y) const {
      if (by_age_) return x.stamp < y.stamp;  // no two seats have one
      const Ranks ranks(preview_.region_);
      if (ranks.goes_before(x.head, y.head)) return true;
      if (ranks.goes_before(y.head, x.head)) return false;
      return x.tag != y.tag ? x.tag < y.tag : x.sequence < y.sequence;
    }
    /// For a heap whose front goes first.
    struct Behind {
      const Candidates& of;
      bool operator()(const Candidate& y, const Candidate& x) const { return of.goes_before(x, y); }
    };

    RankedPreview& preview_;
    bool by_age_;
    StepLimit limit_;
    std::vector<Candidate> heap_;  // each as it was when it was put there
  };

  /// As it is by now.
  Seat& seat(uint32_t i) {
    const auto known = seats_.find(i);
    if (known != seats_.end()) return known->second;
    const Tenant& at = region_.tenant(i);
    const Place& place = region_.place(i);
    Seat seat{i, kNoIndex, at.tag, at.sequence, place.stamp, nullptr, 0};
    const uint64_t sets = SeatKind{&region_}.sets(i);
    if ((sets & ~(open_ & ~kSomePools)) == 0) {
      seat.head = place.first;
    } else if ((sets & open_) != 0 && !Pools(region_).has_full_pool(at)) {
      seat.head = below(seat).peek();  // what goes first of it may lack room
    }
    return seats_.emplace(i, std::move(seat)).first->second;
  }
  RankedPreview& below(Seat& seat) {
    if (seat.below == nullptr)
      seat.below = std::make_unique<RankedPreview>(region_, seat.index, starts_, depth_ + 1);
    return *seat.below;
  }
  void take_new_place(Seat& seat) {
    ++seat.version;
    by_rank_->add(seat);
    if (by_age_) by_age_->add(seat);
  }
  Seat* best(bool by_age) {
    // Only every so many turns go by age, and mostly fewer are asked for.
    if (by_age && !by_age_) by_age_.emplace(*this, true);
    for (;;) {
      Seat* seat = by_age ? by_age_->first() : by_rank_->first();
      if (seat == nullptr || starts_ == nullptr || starts_->left(region_.entry(seat->head).tenant) != 0)
        return seat;
      seat->head = below(*seat).peek();
      take_new_place(*seat);
    }
  }

  const Region& region_;
  const Tenant& tenant_;
  const uint32_t index_;
  const Starts* const starts_;
  const uint64_t open_;
  const uint32_t depth_;
  uint64_t vtime_ = 0, joins_ = 0, expected_ticks_ = 0;
  std::optional<LaneWalk<MessageKind>> messages_;
  std::unordered_map<uint32_t, Seat> seats_;  // those that were looked at
  std::optional<Candidates> by_rank_, by_age_;
};

}  // namespace fq
