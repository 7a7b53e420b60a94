#include "core/local/policy/policy_loader.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/api/policy_checks.h"
#include "core/base/fault_point.h"
// fq, this room.
#include "core/local/files/kept_policy.h"
#include "core/local/read/parts.h"
#include "core/local/shared/policy_layers.h"
#include "core/local/files/process_info.h"
#include "core/local/shared/segment_lock.h"

namespace fq {

namespace {

constexpr size_t kRulesPerHold = 16;      // of the state lock
constexpr uint32_t kControlsAhead = 256;  // nodes that one hold of it looks at

/// A rule as the schedule takes it. The queue's own limits are those of the path that is empty.
struct LoadedRule {
  std::string_view pattern;
  NodePatch values;
};

std::vector<LoadedRule> rules_of(const Policy& policy) {
  std::vector<LoadedRule> rules;
  const NodePatch of_queue = node_patch(policy.queue, {});
  if (of_queue.set.given != 0) rules.push_back({"", of_queue});
  for (const TenantRule& rule : policy.tenants) rules.push_back({rule.pattern, node_patch(rule.values, {})});
  return rules;
}

}  // namespace

Result<bool> PolicyLoader::is_current(const FileIdentity& identity) {
  FileIdentity loaded;
  FQ_TRY(locked([&]() -> Result<void> {
    loaded = policy_file_of(header().policy);
    return {};
  }));
  return loaded == identity;
}

Result<void> PolicyLoader::load(const Policy& policy, const FileIdentity& identity, const std::string* text) {
  FQ_TRY(check_policy_values(policy));
  SegmentHeader& shared = header();
  const std::optional<SegmentLock> held = SegmentLock::take(shared, shared.policy_lock);
  if (!held) return held_by(object() + ": its policy is being loaded", shared.policy_lock.holder());
  FQ_TRY_SET(const bool current, is_current(identity));
  // All zero is a fresh segment as well as no file: then there is something to load only if it says so.
  if (current && identity != FileIdentity{}) return {};
  // Kept before it holds, or a death in between would leave it unkept. A full disk is no reason to go on with
  // what is out of date: until there is room the segment alone has it.
  if (text != nullptr) static_cast<void>(keep_policy(disk(), *text));
  return load_rules(policy, identity);
}

/// Needs: policy_lock, so that nobody else makes rules meanwhile.
Result<RuleSummary> PolicyLoader::sum_up_rules() {
  RuleSummary summary;
  Parts parts(link_);
  for (bool more = true; more;) {
    FQ_TRY_SET(more, parts.next([&] { return schedule().policy().rules_end(); },
                                [&](uint32_t from, uint32_t to) {
                                  if (from == 0) summary = {};
                                  schedule().policy().sum_up_rules(from, to, summary);
                                }));
  }
  return summary;
}

/// What the file says of pools, to hold together with its rules.
Result<void> PolicyLoader::load_pools(const std::vector<PoolRule>& pools, uint32_t generation) {
  for (size_t from = 0; from < pools.size(); from += kRulesPerHold) {
    const size_t to = std::min(pools.size(), from + kRulesPerHold);
    Need need;
    for (size_t i = from; i < to; ++i) need += Growth::need_of_pool(pools[i].name);
    FQ_TRY(policy_.change(need, [&](Txn& txn) {
      for (size_t i = from; i < to; ++i)
        schedule().policy().add_pool(txn, generation, pools[i].name, node_patch(pools[i].values, {}));
    }));
    FQ_POINT("policy.pools_added");
  }
  return {};
}

/// Needs: policy_lock.
Result<void> PolicyLoader::load_rules(const Policy& policy, const FileIdentity& identity) {
  Settings settings;
  take_over(settings, policy.queue);
  const std::vector<LoadedRule> rules = rules_of(policy);
  uint32_t generation = 0;
  const bool empty = rules.empty() && policy.pools.empty();
  if (!empty) {
    FQ_TRY_SET(const RuleSummary there, sum_up_rules());
    generation = schedule().policy().new_rules(there);
  }
  FQ_TRY(load_pools(policy.pools, generation));
  for (size_t from = 0; from < rules.size(); from += kRulesPerHold) {
    const size_t to = std::min(rules.size(), from + kRulesPerHold);
    Need need;
    for (size_t i = from; i < to; ++i) need += Growth::need_of_rule(rules[i].pattern, rules[i].values);
    FQ_TRY(policy_.change(need, [&](Txn& txn) {
      for (size_t i = from; i < to; ++i) {
        schedule().policy().add_rule(txn, generation, static_cast<uint32_t>(i), rules[i].pattern,
                                     rules[i].values);
      }
    }));
    FQ_POINT("policy.rules_added");
  }
  FQ_TRY_SET(const RuleSummary summary, sum_up_rules());
  const Need need{.controls = kControlsAhead};
  FQ_TRY(policy_.change(need, [&](Txn& txn) {
    schedule().policy().make_rules_hold(txn, generation, summary);
    store_file_layer(txn, header(), settings);
  }));
  FQ_POINT("policy.switched");
  for (std::optional<uint32_t> next = 0; next;) {
    FQ_TRY(policy_.change(Need{}, [&](Txn& txn) {
      next = schedule().policy().bring_pools_up_to_date(txn, *next, gate().now().boot_ms);
    }));
    FQ_POINT("policy.pools_applied");
  }
  for (std::optional<TenantIndex> next = kRootTenant; next;) {
    FQ_TRY(policy_.change(need, [&](Txn& txn) {
      next = schedule().policy().bring_up_to_date(txn, *next, gate().now().boot_ms);
    }));
    FQ_POINT("policy.applied");
  }
  FQ_TRY(policy_.follow_terms());
  for (std::optional<uint32_t> next = 0; next;) {
    FQ_TRY(
        policy_.change(Need{}, [&](Txn& txn) { next = schedule().policy().remove_old_rules(txn, *next); }));
  }
  for (std::optional<uint32_t> next = 0; next;) {
    FQ_TRY(
        policy_.change(Need{}, [&](Txn& txn) { next = schedule().policy().remove_old_pools(txn, *next); }));
  }
  return policy_.change(Need{}, [&](Txn& txn) { store_policy_file(txn, header().policy, identity); });
}

}  // namespace fq
