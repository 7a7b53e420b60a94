// ranked_seats - the seat of a ring whose turn it is by rank or by age, see ranks.h.
#pragma once

// fq, this room.
#include "core/schedule/rings/pools.h"
#include "core/schedule/rings/seats.h"

namespace fq {

class RankedSeats {
 public:
  RankedSeats(const Region& region, bool by_age)
      : region_(region), kind_{&region}, ranks_(region), open_(open_sets(region.root)), by_age_(by_age) {}

  struct Seat {
    uint32_t tenant = kNoIndex;
    uint32_t slot = kNoIndex;  // by rank: of the message that it would give
  };
  /// None where nothing below this inner node can be served.
  Seat first(const Tenant& inner) const { return better_in(inner.lane.root, Seat{}); }

 private:
  bool improves(uint32_t tenant, uint32_t slot, const Seat& so_far) const {
    if (so_far.tenant == kNoIndex) return true;
    return by_age_ ? region_.place(tenant).stamp < region_.place(so_far.tenant).stamp
                   : ranks_.goes_before(slot, so_far.slot);
  }
  bool all_open(uint64_t sets) const { return (sets & ~(open_ & ~kSomePools)) == 0; }
  Seat better_in(uint32_t i, const Seat& so_far) const;
  Seat better_of(uint32_t i, const Seat& so_far) const;

  const Region& region_;
  SeatKind kind_;
  Ranks ranks_;
  uint64_t open_;
  bool by_age_;
};

}  // namespace fq
