#include "core/schedule/rings/ranked_seats.h"

namespace fq {

/// Of a subtree, or what was found so far where nothing there is better.
RankedSeats::Seat RankedSeats::better_in(uint32_t i, const Seat& so_far) const {
  const SeatSum sum = kind_.sum_of(i);
  const uint32_t top = by_age_ ? sum.oldest : sum.best;
  if ((sum.sets & open_) == 0 || top == kNoIndex) return so_far;
  const uint32_t slot = region_.place(top).first;
  if (!improves(top, slot, so_far)) return so_far;
  if (all_open(sum.sets)) return {top, slot};
  // Some of it lacks room. From the left, so that of equals the first stays.
  const Tenant& tenant = region_.tenant(i);
  return better_in(tenant.next, better_of(i, better_in(tenant.prev, so_far)));
}

RankedSeats::Seat RankedSeats::better_of(uint32_t i, const Seat& so_far) const {
  const uint64_t sets = kind_.sets(i);
  if ((sets & open_) == 0 || !ranks_.is_known(i)) return so_far;
  const Tenant& tenant = region_.tenant(i);
  uint32_t slot = region_.place(i).first;
  if (!all_open(sets)) {
    // What goes first of it may be what lacks room.
    if (Pools(region_).has_full_pool(tenant)) return so_far;
    if (is_inner(tenant)) slot = RankedSeats(region_, false).first(tenant).slot;
    if (slot == kNoIndex) return so_far;
  }
  return improves(i, slot, so_far) ? Seat{i, slot} : so_far;
}

}  // namespace fq
