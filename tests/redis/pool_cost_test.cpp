// pool_cost_test - whoever waits for a pool that is full costs the server nothing when it looks for the next
// turn, however many do; and where they stand is checked and mended.

// System.
#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
// Tests.
#include "tests/redis/sharded_fixture.h"
#include "tests/redis/waiter.h"

namespace fq::test {

namespace {

const std::string kPooled = "fq1:fq:{default:0:0}:";

/// All commands that were called, also by functions.
uint64_t all_calls(const TestServer& server) {
  const std::string info = command(server, {"INFO", "commandstats"}).text, word = ":calls=";
  uint64_t calls = 0;
  for (size_t at = 0; (at = info.find(word, at)) != std::string::npos; at += word.size())
    calls += std::strtoull(info.c_str() + at + word.size(), nullptr, 10);
  return calls;
}

/// Pools of which each has room for one; tenants that these patterns match are in one.
Policy pools_for(const std::vector<std::pair<std::string, std::string>>& tenants) {
  Policy policy;
  for (const char* pool : {"p", "q"}) policy.pools.push_back({pool, {{PolicyKey::concurrency, 1, 0, {}}}});
  for (const auto& [pattern, pool] : tenants)
    policy.tenants.push_back({pattern, {{PolicyKey::pool, 0, 0, pool}}});
  return policy;
}

struct Pooled {
  TestServer server;
  std::unique_ptr<Queue> queue = open_on(real_time_engine(), server.spool());

  void push_each(const std::vector<std::string>& tenants) {
    constexpr size_t kAtOnce = 500;
    for (size_t from = 0; from < tenants.size(); from += kAtOnce) {
      std::vector<NewMessage> batch;
      for (size_t i = from; i < std::min(tenants.size(), from + kAtOnce); ++i) {
        batch.emplace_back().tenant = tenants[i];
        batch.back().payload = as_bytes("x");
      }
      answered(queue->push(batch));
    }
  }
  /// The tenants of the next messages, one behind the other.
  std::string served(size_t want) {
    std::string all;
    for (const Delivery& each : answered(queue->lease(for_a_minute(want))).deliveries)
      all += (all.empty() ? "" : " ") + each.tenant;
    return all;
  }
  bool is_well() {
    const CheckReport report = answered(queue->check());
    for (const std::string& line : report.findings.lines) UNSCOPED_INFO(line);
    return report.findings.empty();
  }
};

/// So many wait for a pool that is full, how they are called: what one pop and one push cost beside them,
/// while somebody waits.
uint64_t cost_behind(const std::string& prefix, size_t count) {
  Pooled p;
  REQUIRE(p.queue->policy_load(pools_for({{"in*", "p"}, {"a/in*", "p"}}), {.inode = 1}).ok());
  std::vector<std::string> tenants;
  for (size_t i = 0; i < count; ++i) tenants.push_back(prefix + std::to_string(i));
  p.push_each(tenants);
  REQUIRE(p.served(1) == prefix + "0");
  const uint64_t before = all_calls(p.server);
  CHECK(p.served(1).empty());
  Waiter waiter(open_on(real_time_engine(), p.server.spool("?poll=60s")));
  wait_until([&] { return command(p.server, {"ZCARD", kPooled + "bw"}).number == 1; });
  push_one(*p.queue, prefix + "1", "x");
  push_one(*p.queue, "free", "x");
  CHECK(waiter.reply().deliveries.at(0).tenant == "free");
  push_one(*p.queue, "free", "x");
  CHECK(p.served(9) == "free");
  const uint64_t calls = all_calls(p.server) - before;
  CHECK(p.is_well());
  return calls;
}

}  // namespace

TEST_CASE("a pop and a push cost as much behind 3,000 tenants that wait for a full pool as behind 300") {
  const std::string prefix = GENERATE("in", "a/in", "in/");
  CAPTURE(prefix);
  const uint64_t few = cost_behind(prefix, 300);
  CHECK(cost_behind(prefix, 3'000) < few + 100);
}

namespace {

/// Accounts of which some need one pool, some both and some none. What runs in them fills both.
struct Mixed : Pooled {
  const std::vector<std::pair<std::string, std::string>> rules = {{"p", "p"},   {"q", "q"},  {"a/p", "p"},
                                                                  {"a/q", "q"}, {"b", "p"},  {"b/q", "q"},
                                                                  {"b/p", "p"}, {"a/c", "q"}};
  const std::vector<std::string> waiting = {"a/p", "a/q", "b/q", "b/p", "p", "q", "a/c/x", "b"};
  std::vector<Receipt> running;

  void fill() {
    REQUIRE(queue->policy_load(pools_for(rules), {.inode = 1}).ok());
    push_each({"p", "q"});
    for (const Delivery& each : answered(queue->lease(for_a_minute(2))).deliveries)
      running.push_back(each.receipt);
    REQUIRE(running.size() == 2);
    push_each(waiting);
    push_each({"a", "a/free"});
  }
  /// Those that no pool is in the way of, then the others one by one as the pools have room.
  void serve_all(const std::string& free = "a a/free") {
    CHECK(served(20) == free);
    auto left = static_cast<int64_t>(waiting.size() - (free == "a a/free" ? 0 : 1));
    while (!running.empty()) {
      std::vector<Settle> acks;
      for (const Receipt& each : std::exchange(running, {})) acks.emplace_back().receipt = each;
      answered(queue->settle(acks));
      CHECK(is_well());
      for (const Delivery& each : answered(queue->lease(for_a_minute(20))).deliveries) {
        running.push_back(each.receipt);
        --left;
      }
      CHECK(running.size() <= 2);
      CHECK(is_well());
    }
    CHECK(left == 0);
  }
  Reply ask(std::initializer_list<std::string_view> words) { return command(server, words); }
};

}  // namespace

TEST_CASE("each stands where its pools say, also when others hold or there are none any more") {
  Mixed m;
  m.fill();
  CHECK(m.is_well());
  std::string free = "a a/free";
  SECTION("as it is") {}
  SECTION("of one another pool holds") {
    REQUIRE(m.queue->policy_set("a/p", {{{PolicyKey::pool, 0, 0, "q"}}, {}}).ok());
  }
  SECTION("of an account none does") {
    REQUIRE(m.queue->policy_set("b", {{{PolicyKey::pool, 0, 0, ""}}, {}}).ok());
    free = "a b a/free";
  }
  SECTION("an account is paused for a while") {
    set(*m.queue, "a", PolicyKey::paused, 1);
    CHECK(m.is_well());
    REQUIRE(m.queue->policy_set("a", {{}, {PolicyKey::paused}}).ok());
  }
  SECTION("there are none any more") {
    REQUIRE(m.queue->policy_load({}, {.inode = 2}).ok());
    CHECK(m.is_well());
    CHECK(answered(m.queue->lease(for_a_minute(20))).deliveries.size() == m.waiting.size() + 2);
    CHECK(m.is_well());
    return;
  }
  CHECK(m.is_well());
  m.serve_all(free);
}

TEST_CASE("where somebody stands for a pool and should not, or not and should, is found and mended") {
  Mixed m;
  m.fill();
  const std::string member = m.ask({"ZRANGE", kPooled + "rg:p:", "0", "0"}).at(0).text;
  REQUIRE(member.size() > 8);
  const int what = GENERATE(range(0, 12));
  CAPTURE(what);
  const std::string root = m.ask({"GET", kPooled + "n:"}).text;
  if (what == 0) m.ask({"DEL", kPooled + "rg:p:"});
  if (what == 1) m.ask({"DEL", kPooled + "rg:q:a"});
  if (what == 2)
    m.ask({"DEL", kPooled + "rg:p:", kPooled + "rg:q:", kPooled + "rg:p,q:", kPooled + "rg:p:a"});
  if (what == 3) m.ask({"ZREM", kPooled + "rg:p:", member});
  if (what == 4) m.ask({"ZADD", kPooled + "rg:p:", "1", std::string(8, '\0') + "nobody"});
  if (what == 5) m.ask({"ZADD", kPooled + "r:", "1", member});
  if (what == 6) m.ask({"ZADD", kPooled + "rg:q:", "1", std::string(8, '\0') + member.substr(8)});
  if (what == 7) m.ask({"ZADD", kPooled + "rg:p:", "1", member});
  if (what == 8) m.ask({"DEL", kPooled + "n:"});
  if (what == 9) m.ask({"DEL", kPooled + "n:a"});
  if (what == 10) m.ask({"SET", kPooled + "n:", root.substr(0, root.size() - 1)});
  if (what == 11) m.ask({"SET", kPooled + "n:", root.substr(0, 146)});
  CHECK_FALSE(m.is_well());
  // A turn may come to it first, and then there is nothing to mend.
  const bool is_in_use = GENERATE(false, true);
  if (is_in_use) answered(m.queue->lease(for_a_minute(1)));
  const CheckReport report = answered(m.queue->check({.repair = true}));
  for (const std::string& line : report.findings.lines) UNSCOPED_INFO(line);
  CHECK(report.findings.empty());
  CHECK((is_in_use || !report.repairs.empty()));
  CHECK(m.is_well());
  for (const Receipt& each : m.running) {
    Settle ack;
    ack.receipt = each;
    answered(m.queue->settle({&ack, 1}));
  }
  REQUIRE(m.queue->policy_load({}, {.inode = 2}).ok());
  answered(m.queue->lease(for_a_minute(20)));
  CHECK(m.is_well());
  CHECK(command(m.server, {"KEYS", kPooled + "rg:*"}).items.empty());
  CHECK(command(m.server, {"KEYS", kPooled + "q:*"}).items.empty());
}

TEST_CASE("who waits for a tenant of which all that is below it needs a pool finds it without a bell") {
  const Mixed m;
  REQUIRE(m.queue->policy_load(pools_for({{"a/p", "p"}}), {.inode = 1}).ok());
  LeaseRequest request = until_there();
  Waiter waiter(open_on(real_time_engine(), m.server.spool("?poll=100ms")), request, "a");
  wait_until([&] { return command(m.server, {"ZCARD", kPooled + "bf"}).number == 1; });
  command(m.server, {"DEL", kPooled + "bt"});  // nobody finds it by its tenant
  push_one(*m.queue, "a/p", "x");
  CHECK(waiter.reply().deliveries.at(0).tenant == "a/p");
}

}  // namespace fq::test
