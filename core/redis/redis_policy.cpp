#include "core/redis/redis_policy.h"

// System.
#include <iterator>
#include <map>
// fq, below us.
#include "core/base/tenant_name.h"
#include "core/base/text/escape.h"
// fq, this room.
#include "core/redis/records/argument_list.h"
#include "core/redis/not_built.h"
#include "core/redis/records/records.h"

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
    case PolicyKey::retention:
    case PolicyKey::batch:
    case PolicyKey::linger:
    case PolicyKey::fair_by:
      return "";
    case PolicyKey::concurrency:
    case PolicyKey::rate:
    case PolicyKey::burst:
    case PolicyKey::pool:
    case PolicyKey::paused:
    case PolicyKey::draining:
    case PolicyKey::limited:
    case PolicyKey::scope:
    case PolicyKey::max_messages:
    case PolicyKey::max_bytes:
      return "";
  }
  return "a setting that this fq-redis does not know";
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

bool is_of_queues(PolicyKey key) {
  return key != PolicyKey::weight && key != PolicyKey::pool && key != PolicyKey::limited;
}
bool is_of_tenants(PolicyKey key) {
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

Result<void> check_keys(std::string_view path, const PolicyPatch& patch) {
  if (!path.empty()) {
    if (const std::string_view fault = tenant_name_fault(path); !fault.empty())
      return Error{ErrorKind::usage, "tenant " + in_quotes(path) + ": " + std::string(fault), 0};
  }
  std::vector<PolicyKey> keys = patch.unset;
  for (const PolicyValue& value : patch.set) keys.push_back(value.key);
  for (const PolicyKey key : keys) {
    if (path.empty() ? is_of_queues(key) : is_of_tenants(key)) continue;
    return Error{
        ErrorKind::usage,
        (path.empty() ? "queue" : "tenant " + in_quotes(path)) + std::string(": has no such setting"), 0};
  }
  for (const PolicyKey key : patch.unset) {
    if (const std::string_view what = lacking(key); !what.empty()) return not_built::refusal(what);
  }
  return check_values(patch.set);
}

Result<void> check_taken(const Reply& reply) {
  if (reply.at(1).at(0).text == "ready")
    return Error{ErrorKind::unusable,
                 "linger, batch: cannot become others on a server while more than 10,000 messages are ready",
                 0};
  if (reply.at(1).at(0).text == "ranks")
    return Error{ErrorKind::unusable,
                 "scope: cannot become another on a server while the queue has more than 10,000 tenants", 0};
  if (reply.at(1).at(0).text == "below")
    return Error{ErrorKind::unusable,
                 "max_messages, max_bytes: cannot begin to hold for a tenant above more than 10,000 others "
                 "on a server",
                 0};
  if (reply.at(1).at(0).text != "many") return {};
  return Error{ErrorKind::unusable,
               "fair_by: cannot become another on a server while the queue has more than 10,000 tenants", 0};
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
  if (!policy.tenants.empty()) return not_built::refusal(not_built::kTenantRules);
  FQ_TRY(check_values(policy.queue));
  ArgumentList arguments;
  arguments.borrow("file");
  arguments.add(policy_bytes(policy.queue));
  arguments.add(text_of(identity));
  arguments.add(text == nullptr ? std::string() : "=" + *text);
  for (const PoolRule& pool : policy.pools) {
    FQ_TRY(check_values(pool.values));
    arguments.borrow(pool.name);
    arguments.add(policy_bytes(pool.values));
  }
  FQ_TRY_SET(const Reply reply, shard_.change("change", arguments.words()));
  return check_taken(reply);
}

Result<void> RedisPolicy::set(std::string_view path, const PolicyPatch& patch) {
  FQ_TRY(check_keys(path, patch));
  if (patch.set.empty() && patch.unset.empty()) return {};
  ArgumentList arguments;
  arguments.borrow(path.empty() ? "set" : "tenant");
  if (!path.empty()) arguments.borrow(path);
  arguments.add(policy_bytes(patch.set));
  std::string unset;
  for (const PolicyKey key : patch.unset) unset += static_cast<char>(key);
  arguments.add(std::move(unset));
  FQ_TRY_SET(const Reply reply, shard_.change("change", arguments.words()));
  return check_taken(reply);
}

/// By path; a cursor is the last one that was told, behind a sign.
Result<OverridePage> RedisPolicy::overrides(const Cursor& from, size_t n) {
  FQ_TRY_SET(const Reply reply, shard_.look({"overrides"}));
  const int64_t now_ms = reply.at(0).at(0).number;
  const Reply& tenants = reply.at(1).at(1);
  std::map<std::string, std::string> all;
  if (!reply.at(1).at(0).text.empty()) all[""] = reply.at(1).at(0).text;
  for (size_t i = 0; i + 1 < tenants.items.size(); i += 2) all[tenants.at(i).text] = tenants.at(i + 1).text;
  OverridePage page;
  auto at = from.text.empty() ? all.begin() : all.upper_bound(from.text.substr(1));
  for (; at != all.end() && page.overrides.size() < n; ++at) {
    PolicyOverride& override = page.overrides.emplace_back();
    override.path = at->first;
    for (PolicyValue& value : read_policy_bytes(at->second)) {
      if (value.key == PolicyKey::limited) value.number -= now_ms;
      const bool is_over = value.key == PolicyKey::limited && value.number <= 0;
      if (!is_over) override.values.push_back(std::move(value));
    }
    if (override.values.empty()) page.overrides.pop_back();
  }
  if (at != all.end()) page.next.text = "=" + std::prev(at)->first;
  return page;
}

}  // namespace fq
