// random_value - what a random history sets for a tenant or the queue, drawn at random.
#pragma once

// System.
#include <string>
#include <vector>
// Tests.
#include "tests/api/random_patch.h"

namespace fq::test {

/// What decides which settings a history may have.
struct ValueRules {
  bool costly = false;   // turns may cost bytes or time
  bool gathers = false;  // messages of a tenant go in groups
};

/// `which` is a number of the tenant's own.
inline PolicyValue drawn_value(const std::string& tenant, size_t which, const ValueRules& rules,
                               const RandomPatch::Draw& draw) {
  // No two buckets have a token at one time, and none when something is due: the order among those that are
  // free at once is not promised. The tokens of one that holds several come at times that end in 5, as now.
  constexpr uint64_t kResidues[] = {1, 2, 3, 4, 6, 7, 10};
  const auto interval_ms = static_cast<int64_t>(10 * draw.below(60) + kResidues[which]);
  std::vector<PolicyValue> values = {{PolicyKey::paused, 1, 0, {}},
                                     {PolicyKey::concurrency, 1 + static_cast<int64_t>(draw.below(3)), 0, {}},
                                     {PolicyKey::rate, 1, interval_ms, {}}};
  if (tenant == "b") values.push_back({PolicyKey::burst, 1 + static_cast<int64_t>(draw.below(4)), 0, {}});
  if (!tenant.empty()) {
    values.push_back({PolicyKey::limited, draw.fresh_span_ms(2'000), 0, {}});
    values.push_back({PolicyKey::weight, 100 + static_cast<int64_t>(draw.below(5'000)), 0, {}});
    values.push_back({PolicyKey::pool, 0, 0, draw.below(2) == 0 ? "p" : "q"});
  }
  if (tenant.empty() && rules.costly)
    values.push_back({PolicyKey::fair_by, static_cast<int64_t>(draw.below(3)), 0, {}});
  // The tokens of this one come at times that end in 9, as windows do.
  if (rules.gathers && tenant == "a/x") values.erase(values.begin() + 2);
  return values[draw.below(values.size())];
}

/// Adds pools to a policy file, and rules of the node at `ruled` alone: in which order those of several come
/// to sit is not promised.
template <class Below>
void draw_rules(Policy& policy, const std::string& ruled, Below below) {
  const auto number = [&](uint64_t most) { return 1 + static_cast<int64_t>(below(most)); };
  for (const char* name : {"p", "q"}) {
    if (below(2) == 0) continue;
    PolicyValues values;
    if (below(3) != 0) values.push_back({PolicyKey::concurrency, number(3), 0, {}});
    if (below(3) == 0) values.push_back({PolicyKey::rate, 1, number(600), {}});
    policy.pools.push_back({name, values});
  }
  for (const std::string& pattern : {ruled, ruled + "*"}) {
    if (below(2) == 0) continue;
    PolicyValues values;
    if (below(2) == 0) values.push_back({PolicyKey::concurrency, number(3), 0, {}});
    if (below(2) == 0) values.push_back({PolicyKey::weight, 100 * number(30), 0, {}});
    if (below(4) == 0) values.push_back({PolicyKey::pool, 0, 0, "p"});
    policy.tenants.push_back({pattern, values});
  }
}

}  // namespace fq::test
