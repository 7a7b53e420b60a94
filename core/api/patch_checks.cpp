#include "core/api/patch_checks.h"

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

std::string_view patch_fault(std::string_view path, const PolicyPatch& patch) {
  std::vector<PolicyKey> keys = patch.unset;
  for (const PolicyValue& value : patch.set) keys.push_back(value.key);
  for (const PolicyKey key : keys)
    if (!(path.empty() ? is_for_queues(key) : is_for_tenants(key))) return "has no such setting";
  for (const PolicyValue& value : patch.set) {
    if (const std::string_view fault = policy_value_fault(value); !fault.empty()) return fault;
    if (!value.text.empty() && value.key != PolicyKey::pool) return "has a name where a number is meant";
  }
  std::sort(keys.begin(), keys.end());
  return std::adjacent_find(keys.begin(), keys.end()) == keys.end() ? "" : "is told a setting twice";
}

}  // namespace

Result<void> check_patch(std::string_view path, const PolicyPatch& patch) {
  std::string_view fault = path.empty() ? "" : tenant_name_fault(path);
  if (fault.empty()) fault = patch_fault(path, patch);
  if (fault.empty()) return {};
  return Error{ErrorKind::usage,
               (path.empty() ? "queue" : "tenant " + in_quotes(path)) + ": " + std::string(fault), 0};
}

}  // namespace fq
