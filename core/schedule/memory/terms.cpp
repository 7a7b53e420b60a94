#include "core/schedule/memory/terms.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/schedule/memory/region.h"

namespace fq {

void store_terms(Txn& txn, ScheduleRoot& root, const Terms& terms) {
  SharedTerms& shared = root.terms;
  const bool other_cost = shared.fair_by != terms.fair_by;
  const bool other_groups = shared.linger_ms != terms.linger_ms || shared.batch_max != terms.batch_max;
  const bool other_scope = shared.scope != terms.scope || (shared.ages != 0) != terms.ages;
  if (!other_cost && !other_groups && !other_scope) return;
  put(txn, shared.scope, terms.scope);
  put(txn, shared.ages, terms.ages ? 1u : 0u);
  put(txn, shared.fair_by, terms.fair_by);
  put(txn, shared.linger_ms, terms.linger_ms);
  put(txn, shared.batch_max, terms.batch_max);
  // A walk that is under way begins anew, and still does what it was to do.
  if (other_cost) put(txn, shared.other_cost, 1);
  if (other_groups) put(txn, shared.other_groups, 1);
  put(txn, shared.next_node, 0);
  follow_scope(txn, root);
}

void follow_scope(Txn& txn, ScheduleRoot& root) {
  SharedTerms& shared = root.terms;
  if (shared.scope == Scope::tenant) return put(txn, shared.ranks, 0);
  if (is_ranked(root) || !can_rank(root)) return;
  put(txn, root.places_used, 1);
  put(txn, shared.last_ranks, std::max(1u, shared.last_ranks + 1));
  put(txn, shared.ranks, shared.last_ranks.get());
  put(txn, shared.next_node, 0);
}

}  // namespace fq
