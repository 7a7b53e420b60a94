#include "core/api/policy_checks.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/tenant_name.h"
#include "core/base/text/escape.h"

namespace fq {

namespace {

bool is_for_tenants(PolicyKey key) {
  switch (key) {
    case PolicyKey::max_messages:
    case PolicyKey::max_bytes:
    case PolicyKey::concurrency:
    case PolicyKey::rate:
    case PolicyKey::burst:
    case PolicyKey::weight:
    case PolicyKey::pool:
    case PolicyKey::paused:
    case PolicyKey::limited:
      return true;
    default:
      return false;
  }
}
bool is_for_queues(PolicyKey key) {
  return key >= PolicyKey::order && key <= kLastPolicyKey && key != PolicyKey::weight &&
         key != PolicyKey::pool && key != PolicyKey::limited;
}

bool is_at_run_time_only(PolicyKey key) {
  return key == PolicyKey::paused || key == PolicyKey::draining || key == PolicyKey::limited;
}
bool is_for_files_tenants(PolicyKey key) { return is_for_tenants(key) && !is_at_run_time_only(key); }
bool is_for_files_queues(PolicyKey key) { return is_for_queues(key) && !is_at_run_time_only(key); }
bool is_for_pools(PolicyKey key) {
  return key == PolicyKey::concurrency || key == PolicyKey::rate || key == PolicyKey::burst;
}

using IsForNode = bool (*)(PolicyKey);

/// The fault of these values and of the keys of others, together.
std::string_view values_fault(const PolicyValues& values, std::vector<PolicyKey> keys, IsForNode is_for) {
  for (const PolicyValue& value : values) keys.push_back(value.key);
  for (const PolicyKey key : keys)
    if (!is_for(key)) return "has no such setting";
  for (const PolicyValue& value : values) {
    if (const std::string_view fault = policy_value_fault(value); !fault.empty()) return fault;
    if (!value.text.empty() && value.key != PolicyKey::pool) return "has a name where a number is meant";
  }
  std::sort(keys.begin(), keys.end());
  return std::adjacent_find(keys.begin(), keys.end()) == keys.end() ? "" : "is told a setting twice";
}

Result<void> refused_for(std::string_view fault, ErrorKind kind, std::string_view what,
                         std::string_view name) {
  if (fault.empty()) return {};
  return Error{
      kind, std::string(what) + (name.empty() ? "" : " " + in_quotes(name)) + ": " + std::string(fault), 0};
}

}  // namespace

Result<void> check_patch(std::string_view path, const PolicyPatch& patch) {
  if (path.empty())
    return refused_for(values_fault(patch.set, patch.unset, is_for_queues), ErrorKind::usage, "queue", "");
  std::string_view fault = tenant_name_fault(path);
  if (fault.empty()) fault = values_fault(patch.set, patch.unset, is_for_tenants);
  return refused_for(fault, ErrorKind::usage, "tenant", path);
}

Result<void> check_policy_values(const Policy& policy) {
  FQ_TRY(refused_for(values_fault(policy.queue, {}, is_for_files_queues), ErrorKind::config, "queue", ""));
  for (const TenantRule& rule : policy.tenants) {
    std::string_view fault = tenant_name_fault(rule.pattern);  // a wildcard may stand in any name
    if (fault.empty()) fault = values_fault(rule.values, {}, is_for_files_tenants);
    FQ_TRY(refused_for(fault, ErrorKind::config, "tenant", rule.pattern));
  }
  for (const PoolRule& pool : policy.pools) {
    std::string_view fault = queue_name_fault(pool.name);
    if (fault.empty()) fault = values_fault(pool.values, {}, is_for_pools);
    FQ_TRY(refused_for(fault, ErrorKind::config, "pool", pool.name));
  }
  return {};
}

}  // namespace fq
