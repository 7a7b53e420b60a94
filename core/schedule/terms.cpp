#include "core/schedule/terms.h"

// fq, this room.
#include "core/schedule/region.h"

namespace fq {

void store_terms(Txn& txn, ScheduleRoot& root, const Terms& terms) {
  SharedTerms& shared = root.terms;
  const bool other_cost = shared.fair_by != terms.fair_by;
  const bool other_groups = shared.linger_ms != terms.linger_ms || shared.batch_max != terms.batch_max;
  if (!other_cost && !other_groups && shared.scope == terms.scope) return;
  put(txn, shared.scope, terms.scope);
  put(txn, shared.fair_by, terms.fair_by);
  put(txn, shared.linger_ms, terms.linger_ms);
  put(txn, shared.batch_max, terms.batch_max);
  // A walk that is under way begins anew, and still does what it was to do.
  if (other_cost) put(txn, shared.other_cost, 1);
  if (other_groups) put(txn, shared.other_groups, 1);
  put(txn, shared.next_node, 0);
}

}  // namespace fq
