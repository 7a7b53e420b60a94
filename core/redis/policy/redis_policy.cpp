#include "core/redis/policy/redis_policy.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/api/policy_checks.h"
// fq, this room.
#include "core/redis/records/argument_list.h"
#include "core/redis/records/records.h"

namespace fq {

namespace {

constexpr size_t kPatternsMax = 1'000;  // each new tenant is held against all of them
constexpr size_t kFile = 0, kSet = 1, kIdentity = 2;  // of what the server shows of the policy

std::string text_of(const FileIdentity& identity) {
  std::string text;
  for (const uint64_t each :
       {identity.device, identity.inode, identity.size, static_cast<uint64_t>(identity.changed_ns),
        static_cast<uint64_t>(identity.modified_ns), identity.for_queue})
    text += std::to_string(each) + ".";
  return text;
}

/// A file that is put in twice has another mark then, by which what was begun of the first one is refused;
/// what follows it does nothing the second time.
constexpr Shard::Lost kTwice = Shard::Lost::is_repeated;

/// What the server's program could not do in one call, by its word for it.
std::string_view limit_behind(std::string_view said) {
  if (said == "ready")
    return "linger, batch: cannot become others on a server while more than 10,000 messages are ready";
  if (said == "ranks")
    return "scope: cannot become another on a server while the queue has more than 10,000 tenants";
  if (said == "below")
    return "max_messages, max_bytes: cannot begin to hold for a tenant above more than 10,000 others on a "
           "server";
  if (said == "many")
    return "fair_by: cannot become another on a server while the queue has more than 10,000 tenants";
  return "";
}

Result<void> check_taken(const Reply& reply, ErrorKind kind) {
  const std::string_view limit = limit_behind(reply.at(1).at(0).text);
  return limit.empty() ? Result<void>() : Error{kind, std::string(limit), 0};
}

/// What each new tenant is held against takes its time.
Result<void> check_patterns(const std::vector<TenantRule>& rules) {
  const auto patterns = std::count_if(rules.begin(), rules.end(), [](const TenantRule& rule) {
    return rule.pattern.find('*') != std::string::npos;
  });
  if (static_cast<size_t>(patterns) <= kPatternsMax) return {};
  return Error{ErrorKind::config,
               "fq.toml: has " + std::to_string(patterns) +
                   " patterns of tenants for one queue; on a server there are 1,000 at most",
               0};
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

Result<void> RedisPolicy::check(const Policy& policy) {
  FQ_TRY(say("may_file", policy));
  return {};
}

Result<void> RedisPolicy::load(const Policy& policy, const FileIdentity& identity) {
  FQ_TRY_SET(const Entry entry, put_in(policy));
  FQ_TRY(follow(entry));
  FQ_TRY(shard_.change("change", {"loaded", text_of(identity), entry.mark}, kTwice));
  return {};
}

/// A call that takes all of it. What it is refused for is an Error.
Result<Reply> RedisPolicy::say(std::string_view what, const Policy& policy) {
  FQ_TRY(check_policy_values(policy));
  FQ_TRY(check_patterns(policy.tenants));
  ArgumentList arguments;
  arguments.borrow(what);
  arguments.add(policy_bytes(policy.queue));
  arguments.add(std::to_string(policy.pools.size()));
  const auto add = [&](std::string_view name, const PolicyValues& values) {
    arguments.borrow(name);
    arguments.add(policy_bytes(values));
  };
  for (const PoolRule& pool : policy.pools) add(pool.name, pool.values);
  for (const TenantRule& rule : policy.tenants) add(rule.pattern, rule.values);
  FQ_TRY_SET(Reply reply, shard_.change("change", arguments.words(), kTwice));
  FQ_TRY(check_taken(reply, ErrorKind::config));
  return reply;
}

/// What holds from now on, also for whoever comes. It is of no file until it is finished: what breaks off in
/// between is begun anew by whoever asks next.
Result<RedisPolicy::Entry> RedisPolicy::put_in(const Policy& policy) {
  FQ_TRY_SET(const Reply reply, say("file", policy));
  return Entry{reply.at(1).at(1).text, reply.at(1).at(2).text};
}

/// Those who are there, page by page. Where another file was put in meanwhile, that one is for whoever did
/// so.
Result<void> RedisPolicy::follow(Entry entry) {
  while (!entry.page.empty()) {
    FQ_TRY_SET(const Reply reply, shard_.change("change", {"follow", entry.page, entry.mark}, kTwice));
    FQ_TRY(check_taken(reply, ErrorKind::config));
    entry.page = reply.at(1).at(1).text;
  }
  return {};
}

Result<void> RedisPolicy::set(std::string_view path, const PolicyPatch& patch, bool is_told,
                              const std::string& version) {
  FQ_TRY(check_patch(path, patch));
  if (patch.set.empty() && patch.unset.empty()) return {};
  ArgumentList arguments;
  arguments.borrow(path.empty() ? "set" : "tenant");
  if (!path.empty()) arguments.borrow(path);
  arguments.add(policy_bytes(patch.set));
  std::string unset;
  for (const PolicyKey key : patch.unset) unset += static_cast<char>(key);
  arguments.add(std::move(unset));
  arguments.borrow(is_told ? "1" : "0");
  arguments.borrow(version);
  FQ_TRY_SET(const Reply reply, shard_.change("order", arguments.words()));
  return check_taken(reply, ErrorKind::unusable);
}

Result<void> RedisPolicy::follow_set(const std::string& values, const std::string& version) {
  FQ_TRY_SET(const Reply reply, shard_.change("order", {"follow_set", values, version}));
  return check_taken(reply, ErrorKind::unusable);
}

/// The server tells of tenants in pages and in no order: they are put in one here.
Result<void> RedisPolicy::read_overrides() {
  overrides_.clear();
  std::string from;
  do {
    FQ_TRY_SET(const Reply reply, shard_.look({"overrides", from}));
    const int64_t now_ms = reply.at(0).at(0).number;
    const auto add = [&](const std::string& path, const std::string& bytes) {
      PolicyValues values = read_policy_bytes(bytes);
      for (PolicyValue& value : values) {
        if (value.key == PolicyKey::limited) value.number -= now_ms;
      }
      std::erase_if(values, [](const PolicyValue& value) {
        return value.key == PolicyKey::limited && value.number <= 0;
      });
      if (!values.empty()) overrides_[path] = std::move(values);
    };
    add("", reply.at(1).at(0).text);
    const Reply& tenants = reply.at(1).at(1);
    for (size_t i = 0; i + 1 < tenants.items.size(); i += 2) add(tenants.at(i).text, tenants.at(i + 1).text);
    from = reply.at(1).at(2).text;
  } while (!from.empty());
  return {};
}

/// By path; a cursor is the last one that was told, behind a sign. What follows the first page is as it was
/// then.
Result<OverridePage> RedisPolicy::overrides(const Cursor& from, size_t n) {
  if (from.text.empty() || overrides_.empty()) FQ_TRY(read_overrides());
  OverridePage page;
  auto at = from.text.empty() ? overrides_.begin() : overrides_.upper_bound(from.text.substr(1));
  for (; at != overrides_.end() && page.overrides.size() < std::max<size_t>(n, 1); ++at)
    page.overrides.push_back({at->first, at->second});
  if (at != overrides_.end()) page.next.text = "=" + page.overrides.back().path;
  return page;
}

}  // namespace fq
