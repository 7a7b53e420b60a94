// terms - the queue's terms for all its turns: their cost, how far its order reaches, how groups gather.
//
// They lie in the schedule's root, beside what they rule. When they change, every node is looked at again, a
// page at a time: that walk is work that is due, like a timer, so the next process that comes by goes on with
// it where another was killed.
#pragma once

// fq, below us.
#include "core/base/policy.h"
// fq, this room.
#include "core/schedule/memory/root.h"

namespace fq {

struct Terms {
  Scope scope = Scope::tenant;
  bool ages = false;  // of scope queue: a waiting tenant has a turn of its own now and then
  FairBy fair_by = FairBy::turns;
  int64_t linger_ms = 0;  // 0: none
  uint64_t batch_max = UINT64_MAX;
};

inline Terms terms_of(const ScheduleRoot& root) {
  return {root.terms.scope, root.terms.ages != 0, root.terms.fair_by, root.terms.linger_ms,
          root.terms.batch_max};
}

/// Begins the walk over all nodes where this makes a difference.
void store_terms(Txn& txn, ScheduleRoot& root, const Terms& terms);
/// Begins to keep ranks, or stops, as the scope says: once there is room.
void follow_scope(Txn& txn, ScheduleRoot& root);

/// The order of messages reaches across tenants, see ranks.h.
inline bool is_ranked(const ScheduleRoot& root) { return root.terms.ranks != 0; }
/// There is room for that, or it is not asked for.
inline bool can_rank(const ScheduleRoot& root) {
  return root.terms.scope == Scope::tenant || root.places.capacity >= root.tenants.capacity;
}

/// Nodes from here on have not been looked at since the terms changed; kNoIndex: all have.
inline uint32_t nodes_behind(const ScheduleRoot& root) { return root.terms.next_node; }

}  // namespace fq
