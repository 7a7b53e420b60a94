#include "core/schedule/check/indexes_check.h"

// fq, this room.
#include "core/schedule/tree/rules.h"

namespace fq {

void IndexesCheck::check_rules() {
  const ScheduleRoot& root = region_.root;
  uint64_t used = 0;
  for (uint32_t i = 0; i < root.rule_supply.high_water; ++i) {
    const Rule& rule = region_.arena.at(root.rules, i);
    if (rule.generation == 0) continue;
    ++used;
    tally_.text_cells += text_cells(text_length(region_, rule.pattern));
    if ((rule.values.given & kGivenPool) != 0)
      tally_.text_cells += text_cells(text_length(region_, rule.values.pool));
  }
  if (used != root.rule_supply.used) fault("A1: used rules are counted wrongly");
  if (root.rule_bucket_count == 0) return;
  const uint64_t heads = check_index(RuleIndexKind{&region_}, "H1: a rule in a wrong bucket");
  if (heads != root.rule_heads) fault("H1: the rule index does not hold what it should");
}

void IndexesCheck::check_indexes() {
  const ScheduleRoot& root = region_.root;
  const uint64_t ids = check_index(EntryIndexKind{&region_}, "H1: a message in a wrong bucket");
  const uint64_t names = check_index(TenantIndexKind{&region_}, "H1: a tenant in a wrong bucket");
  if (ids != root.entry_supply.used) fault("H1: the id index does not hold all messages");
  if (names != root.named_tenants || names != tally_.named)
    fault("H1: the tenant index does not hold all tenants");
}

}  // namespace fq
