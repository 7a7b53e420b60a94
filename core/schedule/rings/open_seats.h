// open_seats - the seats of a ring that can be served now, in the order of their turns.
//
// Those whose pools lack room are passed over, whole subtrees at a time: the first one costs one way down. A
// seat that has kSomePools may turn out to have nothing after all. The ring must not change meanwhile.
#pragma once

// fq, this room.
#include "core/schedule/rings/pools.h"
#include "core/schedule/rings/seats.h"

namespace fq {

class OpenSeats {
 public:
  OpenSeats(SeatKind kind, const Lane& lane)
      : kind_(kind), open_(open_sets(kind.region->root)), list_(lane.head), limit_(lane.count) {
    descend(lane.root);
  }

  /// The next seat, kNoIndex after the last; peek() does not move on.
  uint32_t peek() {
    while (depth_ > 0 && !is_open(stack_[depth_ - 1])) pass();
    if (depth_ == 0) return list_;
    const uint32_t least = stack_[depth_ - 1];
    return list_ == kNoIndex || SeatKind::less(kind_.at(least), kind_.at(list_)) ? least : list_;
  }
  uint32_t next() {
    const uint32_t i = peek();
    if (i == kNoIndex) return i;
    if (depth_ > 0 && stack_[depth_ - 1] == i) {
      pass();
    } else {
      limit_.step();
      list_ = kind_.at(i).next;
    }
    return i;
  }

 private:
  bool is_open(uint32_t i) const {
    const uint64_t open = kind_.sets(i) & open_;
    // The shared bit says nothing, also not about the pool of the seat itself.
    return open == kSomePools ? !Pools(*kind_.region).has_full_pool(kind_.at(i)) : open != 0;
  }
  void pass() {
    limit_.step();
    descend(kind_.at(stack_[--depth_]).next);
  }
  void descend(uint32_t i) {
    for (; (kind_.sum_of(i).sets & open_) != 0; i = kind_.at(i).prev) {
      if (depth_ == kTreeHeightMax) region_damaged("a tree is too high");
      stack_[depth_++] = i;
    }
  }

  SeatKind kind_;
  uint64_t open_;
  uint32_t list_;
  StepLimit limit_;
  uint32_t stack_[kTreeHeightMax];
  uint32_t depth_ = 0;
};

}  // namespace fq
