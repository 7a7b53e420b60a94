#include "core/redis/redis_policy.h"

// fq, below us.
#include "core/base/tenant_name.h"
#include "core/base/text/escape.h"
// fq, this room.
#include "core/redis/argument_list.h"
#include "core/redis/not_built.h"
#include "core/redis/records.h"

namespace fq {

namespace {

constexpr size_t kFile = 0, kSet = 1, kIdentity = 2, kText = 3;  // of what the server shows of the policy

std::string text_of(const FileIdentity& identity) {
  std::string text;
  for (const uint64_t each :
       {identity.device, identity.inode, identity.size, static_cast<uint64_t>(identity.changed_ns),
        static_cast<uint64_t>(identity.modified_ns)})
    text += std::to_string(each) + ".";
  return text;
}

/// What has no effect on a server yet; "": it has.
std::string_view lacking(PolicyKey key) {
  switch (key) {
    case PolicyKey::order:
    case PolicyKey::lease:
    case PolicyKey::attempts:
    case PolicyKey::max_payload:
    case PolicyKey::sync:          // how safe an answer is, is the server's settings
    case PolicyKey::lock_timeout:  // nobody waits for a lock
    case PolicyKey::timeout:       // of a worker, as the next
    case PolicyKey::backoff:
    case PolicyKey::weight:
    case PolicyKey::dead_retention:
      return "";
    case PolicyKey::scope:
      return not_built::kScope;
    case PolicyKey::fair_by:
      return not_built::kFairBy;
    case PolicyKey::linger:
    case PolicyKey::batch:
      return not_built::kGroups;
    case PolicyKey::retention:
      return not_built::kRetention;
    case PolicyKey::max_messages:
    case PolicyKey::max_bytes:
    case PolicyKey::concurrency:
    case PolicyKey::rate:
    case PolicyKey::burst:
    case PolicyKey::pool:
    case PolicyKey::paused:
    case PolicyKey::draining:
    case PolicyKey::limited:
      return not_built::kLimits;
  }
  return not_built::kLimits;
}

/// The default may be said of anything.
Result<void> check_values(const PolicyValues& values) {
  const Settings standard;
  for (const PolicyValue& value : values) {
    const std::string_view what = lacking(value.key);
    const std::optional<PolicyValue> usual = value_of(standard, value.key);
    const bool is_usual = usual && usual->number == value.number && usual->second == value.second;
    if (!what.empty() && !is_usual) return not_built::refusal(what);
    const std::string_view fault = policy_value_fault(value);
    if (!fault.empty()) return Error{ErrorKind::usage, "policy: " + std::string(fault), 0};
  }
  return {};
}

Result<void> check_keys(std::string_view path, const PolicyPatch& patch) {
  if (!path.empty()) {
    if (const std::string_view fault = tenant_name_fault(path); !fault.empty())
      return Error{ErrorKind::usage, "tenant " + in_quotes(path) + ": " + std::string(fault), 0};
  }
  PolicyValues values = patch.set;
  for (const PolicyKey key : patch.unset) {
    const std::string_view what = lacking(key);
    if (!what.empty()) return not_built::refusal(what);
    values.push_back({key, 0, 0, {}});
  }
  for (const PolicyValue& value : values) {
    const bool has_node = (value.key == PolicyKey::weight) != path.empty();
    if (!has_node && lacking(value.key).empty())
      return Error{
          ErrorKind::usage,
          (path.empty() ? "queue" : "tenant " + in_quotes(path)) + std::string(": has no such setting"), 0};
  }
  return check_values(patch.set);
}

}  // namespace

Result<Settings> RedisPolicy::settings() {
  FQ_TRY_SET(const Reply reply, shard_.look({"policy"}));
  Settings settings;
  take_over(settings, read_policy_bytes(reply.at(1).at(kFile).text));
  take_over(settings, read_policy_bytes(reply.at(1).at(kSet).text));
  return settings;
}

Result<bool> RedisPolicy::is_current(const FileIdentity& identity) {
  FQ_TRY_SET(const Reply reply, shard_.look({"policy"}));
  const Reply& held = reply.at(1).at(kIdentity);
  return held.is_text() ? held.text == text_of(identity) : identity == FileIdentity{};
}

Result<std::string> RedisPolicy::kept() {
  FQ_TRY_SET(const Reply reply, shard_.look({"policy"}));
  return reply.at(1).at(kText).text;
}

Result<void> RedisPolicy::load(const Policy& policy, const FileIdentity& identity, const std::string* text) {
  if (!policy.tenants.empty() || !policy.pools.empty()) return not_built::refusal(not_built::kTenantRules);
  FQ_TRY(check_values(policy.queue));
  const std::string values = policy_bytes(policy.queue), known_by = text_of(identity);
  std::vector<std::string_view> arguments = {"file", values, known_by};
  if (text != nullptr) arguments.push_back(*text);
  FQ_TRY(shard_.change("change", arguments));
  return {};
}

Result<void> RedisPolicy::set(std::string_view path, const PolicyPatch& patch) {
  FQ_TRY(check_keys(path, patch));
  if (path.empty()) {
    std::string unset;
    for (const PolicyKey key : patch.unset) unset += static_cast<char>(key);
    FQ_TRY(shard_.change("change", {"set", policy_bytes(patch.set), unset}));
    return {};
  }
  constexpr int64_t kUsualWeight = 1000;
  std::optional<int64_t> weight;
  if (!patch.unset.empty()) weight = kUsualWeight;
  for (const PolicyValue& value : patch.set) weight = value.number;
  if (weight) FQ_TRY(shard_.change("change", {"weight", path, std::to_string(*weight)}));
  return {};
}

}  // namespace fq
