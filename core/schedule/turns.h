// turns - the next turn, from a node down to a message: by tags, by rank or by age.
//
// Has no state of its own: it asks the rings which message is first, and charges the tenants whose turn was
// taken. The turn that next() shows is the one that take() takes, as long as nothing changes between.
#pragma once

// fq, this room.
#include "core/schedule/messages.h"
#include "core/schedule/plain/plain_lease.h"

namespace fq {

class Turns {
 public:
  explicit Turns(const Region& region) : region_(region) {}

  /// The message whose turn is next below `from`: the one that take() would lease.
  std::optional<SlotIndex> next(TenantIndex from) const;
  /// Takes the next turn below `from`: chooses the message whose turn it is, charges its tenants and
  /// leases it. Nodes above `from` are not charged. None when nothing can be served (`from` or a node above
  /// it may be parked), or when the TTL of that message is over and its timer not fired yet. At most 20
  /// steps.
  std::optional<SlotIndex> take(Txn& txn, TenantIndex from, const LeaseTerms& terms) const {
    if (from == kRootTenant) {
      if (const std::optional<SlotIndex> slot = PlainLease(region_).take(txn, terms)) return slot;
    }
    return take_by_parts(txn, from, terms);
  }
  /// The same where PlainLease takes nothing.
  std::optional<SlotIndex> take_by_parts(Txn& txn, TenantIndex from, const LeaseTerms& terms) const;

  /// A group, several messages of one tenant in one turn, is begun with take() and goes on with this: the
  /// next message of that leaf, which is charged as a turn. None when nothing more of it can be served, also
  /// because of a limit. At most 20 steps.
  std::optional<SlotIndex> take_more(Txn& txn, TenantIndex from, TenantIndex leaf,
                                     const LeaseTerms& terms) const;
  /// How many messages a group of this leaf has, of which so many were taken.
  uint64_t group_size(TenantIndex leaf, uint64_t taken) const;
  /// The group is taken: the messages left in that leaf gather anew. At most 8 steps.
  void end_group(Txn& txn, TenantIndex leaf, int64_t now_ms) const;

 private:
  struct Way;
  Way next_way(TenantIndex from) const;
  bool find_below(Way& way) const;

  const Region& region_;
};

}  // namespace fq
