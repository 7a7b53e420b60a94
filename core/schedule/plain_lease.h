// plain_lease - what nearly every lease is, in one go: the first message of the tenant whose turn it is,
// where turns go by tags, no pool is in the way and nothing but the message's place is asked about.
//
// Turns::take_by_parts goes from part to part, each of which looks for itself where things lie. Here the way
// down is gone once, and its nodes are handed on. Both leave the same bytes, which plain_ways_test.cpp holds.
#pragma once

// System.
#include <optional>
// fq, this room.
#include "core/schedule/delivered.h"

namespace fq {

class PlainLease {
 public:
  explicit PlainLease(const Region& region) : region_(region) {}

  /// Takes the next turn of the whole queue. None: nothing was done, since something is not as mostly, or
  /// there is nothing to take; Turns::take_by_parts tells.
  std::optional<SlotIndex> take(Txn& txn, const LeaseTerms& terms) const;

 private:
  struct Way;
  [[gnu::always_inline]] inline bool find(Way& way) const;
  [[gnu::always_inline]] inline void leave_lane(Txn& txn, const Opened<Tenant>& leaf,
                                                const Entry& entry) const;
  [[gnu::always_inline]] inline void charge(Txn& txn, const Opened<Tenant>& ring, uint32_t seat_index,
                                            const Opened<Tenant>& seat, uint64_t cost) const;

  const Region& region_;
};

}  // namespace fq
