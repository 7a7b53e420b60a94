// rules_test - rules for tenants on a server: which of them match, what tenants may hold, a load that broke
// off.
#include "tests/redis/relay.h"
#include "tests/redis/sharded_fixture.h"

// System.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <vector>
// fq, below us.
#include "core/base/tenant_name.h"
#include "core/base/text/pattern.h"

namespace fq::test {

namespace {

PolicyValue value(PolicyKey key, int64_t number) { return {key, number, 0, {}}; }

std::string drawn(std::mt19937_64& random, std::string_view letters, size_t most) {
  std::string text;
  for (size_t n = 1 + random() % most; n > 0; --n) text += letters[random() % letters.size()];
  return text;
}

/// How often a command was called.
uint64_t calls(const TestServer& server, const std::string& name) {
  const std::string info = command(server, {"INFO", "commandstats"}).text,
                    begin = "cmdstat_" + name + ":calls=";
  const size_t at = info.find(begin);
  return at == info.npos ? 0 : std::strtoull(info.c_str() + at + begin.size(), nullptr, 10);
}

/// As many as a server holds names against, each of which may match any name of two levels.
Policy many_patterns() {
  Policy policy;
  for (int64_t i = 0; i < 1'000; ++i)
    policy.tenants.push_back({"*" + std::to_string(i) + "/*", {value(PolicyKey::weight, 1'000 + i)}});
  return policy;
}

Result<PushReply> push_later(Queue& queue, std::string_view tenant) {
  NewMessage message;
  message.tenant = tenant;
  message.delay_ms = 3'600'000;
  return queue.push({&message, 1});
}

/// What a push of this says; "": it is accepted.
std::string refusal(Queue& queue, std::string_view tenant, std::string_view payload = "x") {
  NewMessage message;
  message.tenant = tenant;
  message.payload = as_bytes(payload);
  const Result<PushReply> reply = queue.push({&message, 1});
  return reply.ok() ? "" : reply.error().text;
}

}  // namespace

TEST_CASE("the server's program matches patterns as the client does") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  std::mt19937_64 random(std::random_device{}());
  Policy policy;
  for (int64_t i = 1; i <= 300;) {
    const std::string pattern = drawn(random, "ab/*%-.*", 7);
    if (!tenant_name_fault(pattern).empty()) continue;
    policy.tenants.push_back({pattern, {value(PolicyKey::weight, 1'000 + i++)}});
  }
  policy.tenants.push_back({"\xc3\xa9*", {value(PolicyKey::weight, 100)}});
  REQUIRE(queue->policy_load(policy, {.inode = 1}).ok());
  std::map<std::string, int64_t> expected;
  while (expected.size() < 200) {
    const std::string name = drawn(random, "ab/%-.", 8);
    if (!tenant_name_fault(name).empty() || name.find("//") != name.npos) continue;
    expected[name] = 1'000;
  }
  expected["\xc3\xa9t\xc3\xa9"] = 1'000;
  for (auto& [name, weight] : expected) {
    for (const TenantRule& rule : policy.tenants) {
      if (pattern_matches(rule.pattern, name)) weight = rule.values[0].number;
    }
    push_one(*queue, name, "x");
  }
  StatsRequest request;
  request.tenants = true;
  size_t rows = 0;
  for (const StatsRow& row : answered(queue->stats(request)).rows) {
    const auto found = expected.find(row.tenant);
    if (found == expected.end()) continue;
    INFO(row.tenant);
    CHECK(row.weight == static_cast<double>(found->second) / 1'000);
    ++rows;
  }
  CHECK(rows == expected.size());
}

TEST_CASE("a rule limits what those that match may hold, also those who come later") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  push_one(*queue, "a/x", "x");
  const Policy policy{
      {}, {{"a", {value(PolicyKey::max_messages, 3)}}, {"new-*", {value(PolicyKey::max_bytes, 4)}}}, {}};
  REQUIRE(queue->policy_load(policy, {.inode = 1}).ok());
  CHECK(refusal(*queue, "a/y").empty());
  CHECK(refusal(*queue, "a").empty());
  CHECK(refusal(*queue, "a/z").starts_with("tenant 'a': has 3 messages, the limit is 3 (max_messages)"));
  CHECK(refusal(*queue, "new-1", "123").empty());
  CHECK(
      refusal(*queue, "new-1", "12").starts_with("tenant 'new-1': has 3 bytes, the limit is 4 (max_bytes)"));
  CHECK(refusal(*queue, "new-2", "1234").empty());
  CHECK(answered(queue->check()).findings.count == 0);
  REQUIRE(queue->policy_load({}, {.inode = 2}).ok());
  CHECK(refusal(*queue, "a/z").empty());
  CHECK(refusal(*queue, "new-1", "12").empty());
  CHECK(answered(queue->check()).findings.count == 0);
}

TEST_CASE("a load that broke off is not taken for one that is done") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  const Policy policy{{}, {{"*", {value(PolicyKey::concurrency, 1)}}}, {}};
  REQUIRE(queue->policy_load(policy, {.inode = 1}).ok());
  CHECK(answered(queue->policy_is_current({.inode = 1})));
  command(server,
          {"HSET", "fq1:fq:{default:0:0}:h", "identity", ""});  // as the first call of a load leaves it
  CHECK_FALSE(answered(queue->policy_is_current({.inode = 1})));
  CHECK_FALSE(answered(queue->policy_is_current(FileIdentity{})));
  REQUIRE(queue->policy_load(policy, {.inode = 1}).ok());
  CHECK(answered(queue->policy_is_current({.inode = 1})));
}

TEST_CASE(
    "many new tenants of one push are held against many patterns in several calls, before any is pushed") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  REQUIRE(queue->policy_load(many_patterns(), {.inode = 1}).ok());
  constexpr size_t kTenants = 200;
  std::vector<std::string> names;
  for (size_t i = 0; i < kTenants; ++i) names.push_back("t" + std::to_string(500 + i) + "/x");
  std::vector<NewMessage> messages(kTenants);
  for (size_t i = 0; i < kTenants; ++i) messages[i].tenant = names[i];
  const uint64_t before = calls(server, "fcall");
  CHECK(answered(queue->push(messages)).items.size() == kTenants);
  CHECK(calls(server, "fcall") - before > kTenants * 1'000 / 10'000);
  StatsRequest request;
  request.tenants = true;
  const std::vector<StatsRow> rows = answered(queue->stats(request)).rows;
  CHECK(std::count_if(rows.begin(), rows.end(), [](const StatsRow& row) {
          const auto last =
              std::strtoull(row.tenant.c_str() + 1, nullptr, 10);  // of the patterns that match it
          return row.weight == static_cast<double>(1'000 + last) / 1'000;
        }) == kTenants);
  const uint64_t lists = calls(server, "lrange");
  CHECK(answered(queue->push(messages)).items.size() == kTenants);
  CHECK(calls(server, "lrange") == lists);  // they are known by now
  CHECK(answered(queue->check()).findings.count == 0);
}

TEST_CASE("a tenant that has only delayed messages is held against the same rules once") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  REQUIRE(queue->policy_load(many_patterns(), {.inode = 1}).ok());
  REQUIRE(push_later(*queue, "a/b").ok());
  const uint64_t lists = calls(server, "lrange");
  REQUIRE(push_later(*queue, "a/b").ok());
  CHECK(calls(server, "lrange") == lists);
  REQUIRE(queue->policy_load({{}, {{"a/*", {value(PolicyKey::max_messages, 2)}}}, {}}, {.inode = 2}).ok());
  const Result<PushReply> refused = push_later(*queue, "a/b");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().text.starts_with("tenant 'a/b': has 2 messages, the limit is 2 (max_messages)"));
  CHECK(answered(queue->check()).findings.count == 0);
}

TEST_CASE(
    "a tenant of which something was set and unset before it came is held against the rules that came "
    "since") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  const PolicyKey key = GENERATE(PolicyKey::weight, PolicyKey::concurrency);
  const auto load = [&](int64_t most, uint64_t inode) {
    return queue->policy_load({{}, {{"t*", {value(PolicyKey::max_messages, most)}}}, {}}, {.inode = inode})
        .ok();
  };
  REQUIRE(load(1, 1));
  REQUIRE(queue->policy_set("t1", {{value(key, 2'000)}, {}}).ok());
  REQUIRE(queue->policy_set("t1", {{}, {key}}).ok());
  REQUIRE(load(2, 2));
  CHECK(refusal(*queue, "t1").empty());
  CHECK(refusal(*queue, "t1").empty());
  CHECK(refusal(*queue, "t1").starts_with("tenant 't1': has 2 messages, the limit is 2 (max_messages)"));
}

TEST_CASE("however many tenants have settings, all of them are told, by name") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  REQUIRE(queue->policy_set("t", {{value(PolicyKey::weight, 2'000)}, {}}).ok());
  REQUIRE(queue->policy_set("", {{value(PolicyKey::attempts, 7)}, {}}).ok());
  const std::string key = "fq1:fq:{default:0:0}:ov", bytes = command(server, {"HGET", key, "t"}).text;
  constexpr size_t kTenants = 40'000;  // more than a list of a reply has items
  for (size_t i = 0; i < kTenants; i += 8) {
    std::vector<std::string> names;
    for (size_t each = i; each < i + 8; ++each) names.push_back("t" + std::to_string(100'000 + each));
    command(server, {"HSET", key, names[0], bytes, names[1], bytes, names[2], bytes, names[3], bytes,
                     names[4], bytes, names[5], bytes, names[6], bytes, names[7], bytes});
  }
  std::string last;
  size_t count = 0;
  for (Cursor from;;) {
    const OverridePage page = answered(queue->policy_overrides(from, 999));
    for (const PolicyOverride& each : page.overrides) {
      CHECK((count == 0 ? each.path.empty() : last < each.path));
      CHECK(each.values.size() == 1);
      last = each.path;
      ++count;
    }
    from = page.next;
    if (from.text.empty()) break;
  }
  CHECK(count == kTenants + 2);
}

TEST_CASE("of two files that are loaded at once the later one holds, and under its own name") {
  const TestServer server;
  const auto other = open_on(real_time_engine(), server.spool());
  const Policy first{{value(PolicyKey::attempts, 2)}, {{"t", {value(PolicyKey::weight, 2'000)}}}, {}};
  const Policy second{{value(PolicyKey::attempts, 3)}, {{"t", {value(PolicyKey::weight, 3'000)}}}, {}};
  const std::string step = GENERATE("follow", "loaded");
  bool is_between = false;
  Relay relay(server, [&](const std::string& asked) {
    if (!is_between && asked.find("\r\n" + step + "\r\n") != std::string::npos)
      is_between = other->policy_load(second, {.inode = 2}).ok();
    return std::string();
  });
  const auto queue = open_on(real_time_engine(), relay.spool());
  CHECK(queue->policy_load(first, {.inode = 1}).ok());
  CHECK(is_between);
  CHECK(answered(queue->settings()).attempts_max == 3);
  CHECK(answered(queue->policy_is_current({.inode = 2})));
}

TEST_CASE("of a file that one of its tenants cannot follow nothing holds, and the one before does") {
  const bool is_sharded = GENERATE(false, true);
  const Sharded s(is_sharded ? 4 : 1);
  const std::string account = is_sharded ? account_in(*s.queue, 3) : "a";  // of the shard that comes last
  const std::string pattern = GENERATE("NAME", "N*", "N*/mid", "*/*");
  CAPTURE(is_sharded, pattern);
  REQUIRE(s.queue->policy_load({{value(PolicyKey::attempts, 2)}, {}, {}}, {.inode = 1}).ok());
  std::vector<std::string> names = {"ZADD", tag_of(s.server, is_sharded ? 3 : 0) + "cn"};
  const auto add = [&](const std::string& name) { names.insert(names.end(), {"0", name}); };
  for (size_t i = 0; i <= 10'000; ++i) add(account + "/mid/" + std::to_string(i));
  for (size_t i = 0; i <= 3'000; ++i) add("Z" + std::to_string(i));  // before all of them
  command(s.server, {names.begin(), names.end()});
  std::string of_account = pattern;
  if (pattern == "NAME") of_account = account;
  if (pattern.starts_with("N*")) of_account.replace(0, 1, account.substr(0, 1));
  const Policy refused{
      {value(PolicyKey::attempts, 3)}, {{of_account, {value(PolicyKey::max_messages, 5)}}}, {}};
  const Result<void> loaded = s.queue->policy_load(refused, {.inode = 2});
  REQUIRE_FALSE(loaded.ok());
  CHECK(loaded.error().kind == ErrorKind::config);
  CHECK(answered(s.queue->settings()).attempts_max == 2);
  CHECK(answered(s.queue->policy_is_current({.inode = 1})));
  // Such a limit may be there, and those that it is not for are many.
  const Policy taken{{value(PolicyKey::attempts, 4)}, {{"Z*", {value(PolicyKey::max_messages, 5)}}}, {}};
  CHECK(s.queue->policy_load(taken, {.inode = 3}).ok());
  CHECK(answered(s.queue->settings()).attempts_max == 4);
}

TEST_CASE("more patterns than a server holds each tenant against are a fault of the file") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  Policy policy;
  for (int i = 0; i <= 1'000; ++i)
    policy.tenants.push_back({"t" + std::to_string(i) + "*", {value(PolicyKey::concurrency, 1)}});
  const Result<void> loaded = queue->policy_load(policy, {.inode = 1});
  REQUIRE_FALSE(loaded.ok());
  CHECK(loaded.error().kind == ErrorKind::config);
  CHECK(loaded.error().text.find("1,000 at most") != std::string::npos);
  push_one(*queue, "t1", "1");
  push_one(*queue, "t1", "2");
  CHECK(answered(queue->lease(for_a_minute(9))).deliveries.size() == 2);  // nothing of it holds
}

}  // namespace fq::test
