// limits_test - what the policy lets tenants do at once, in a while, and hold.
#include "tests/api/contract.h"

// System.
#include <algorithm>
#include <map>
#include <set>

namespace fq::test {

TEST_CASE("no more of a tenant runs at once than its concurrency, of it and all below it") {
  ON_EVERY_ENGINE(q);
  q.set("a", PolicyKey::concurrency, 2);
  for (const char* payload : {"a1", "a2", "a3", "a4"}) q.push("a", payload);
  q.push("a/x", "x1");
  q.push("b", "b1");
  const LeaseReply first = q.lease_all({.want = 100});
  REQUIRE(first.deliveries.size() == 3);
  CHECK(q.served().empty());
  for (const Delivery& each : first.deliveries) {
    if (payload_of(each) == "a1") CHECK(q.ack(each) == SettleStatus::ok);
  }
  CHECK(q.served() == "a2");
  q.set("a", PolicyKey::concurrency, 1);  // below what runs: nothing more, and nothing is taken away
  CHECK(q.stats().leased == 3);
  CHECK(q.served().empty());
  q.unset("a", PolicyKey::concurrency);
  CHECK(q.served() == "a3 a4");
}

TEST_CASE("a queue's own concurrency holds for all tenants together") {
  ON_EVERY_ENGINE(q);
  q.set("", PolicyKey::concurrency, 2);
  for (const char* tenant : {"a", "b", "c"}) q.push(tenant, tenant);
  const LeaseReply running = q.lease_all({.want = 100});
  REQUIRE(running.deliveries.size() == 2);
  const std::string first = payload_of(running.deliveries[0]), second = payload_of(running.deliveries[1]);
  if (q.door().caps().exact_global_order) CHECK(first + second == "ab");
  CHECK(q.served().empty());
  CHECK(q.ack(running.deliveries[0]) == SettleStatus::ok);
  const std::string third = q.served();
  CHECK(std::set{first, second, third} == std::set<std::string>{"a", "b", "c"});
}

TEST_CASE(
    "of all tenants no more run than their queue and their pool allow, in whatever order they have turns") {
  ON_EVERY_ENGINE(q);
  REQUIRE(q.door().policy_load({{}, {}, {{"p", {{PolicyKey::concurrency, 2, 0, {}}}}}}, {.inode = 1}).ok());
  q.set("", PolicyKey::concurrency, 5);
  for (int i = 0; i < 12; ++i) {
    const std::string tenant = (i < 4 ? "in" : "out") + std::to_string(i);
    if (i < 4) REQUIRE(q.door().policy_set(tenant, {{{PolicyKey::pool, 0, 0, "p"}}, {}}).ok());
    q.push_many(tenant, 3);
  }
  std::vector<Delivery> running;
  size_t served = 0;
  const auto in_pool = [](const Delivery& each) { return each.tenant.starts_with("in"); };
  const auto take = [&] {
    const size_t before = running.size();
    for (Delivery& each : q.lease_all({.want = 9}).deliveries) running.push_back(std::move(each));
    CHECK(std::count_if(running.begin(), running.end(), in_pool) <= 2);
    return running.size() - before;
  };
  CHECK(take() == 5);
  CHECK(take() == 0);
  for (; !running.empty(); ++served) {
    CHECK(q.ack(running.front()) == SettleStatus::ok);
    running.erase(running.begin());
    take();
    CHECK(running.size() <= 5);
  }
  CHECK(served == 36);
  q.push_many("out9", 9);
  q.set("", PolicyKey::concurrency, 2);
  CHECK(take() == 2);
  q.set("", PolicyKey::concurrency, 4);
  CHECK(take() == 2);
  q.unset("", PolicyKey::concurrency);
  CHECK(take() == 5);
}

TEST_CASE("a tenant starts no more often than its rate, after its burst") {
  ON_EVERY_ENGINE(q);
  q.set("a", PolicyKey::rate, 2, 1'000);
  q.set("a", PolicyKey::burst, 3);
  for (int i = 0; i < 9; ++i) q.push("a", std::to_string(i));
  CHECK(q.served() == "0 1 2");
  const LeaseReply none = q.lease_all({});
  CHECK(none.next_wake_ms == 500);
  q.clock().advance(499);
  CHECK(q.served().empty());
  q.clock().advance(1);
  CHECK(q.served() == "3");
  q.clock().advance(60'000);
  CHECK(q.served() == "4 5 6");
}

TEST_CASE("of what time brings each comes at its own time, also where nobody looked for long") {
  ON_EVERY_ENGINE(q);
  q.set("x/a", PolicyKey::concurrency, 1);
  q.push_many("x/a", 2);
  REQUIRE(q.lease_all(timed_lease(1, 50)).deliveries.size() == 1);
  q.set("x/a", PolicyKey::limited, 100);  // so its lease that ends at 50 does not open it
  q.push("x/b", "b", {.delay_ms = 70});
  q.clock().advance(1'000);
  CHECK(q.served(1) == "b");
  CHECK(q.served(1) == "x/a1");
}

TEST_CASE("a whole queue starts no more often than its rate, after its burst, whoever its tenants are") {
  ON_EVERY_ENGINE(q);
  q.set("", PolicyKey::rate, 2, 1'000);
  q.set("", PolicyKey::burst, 3);
  for (int i = 0; i < 24; ++i) q.push(std::string(1, static_cast<char>('a' + i % 12)), "x");
  const auto starts = [&](size_t want = 100) { return q.lease_all({.want = want}).deliveries.size(); };
  CHECK(starts() == 3);
  CHECK(q.lease_all({}).next_wake_ms == 500);
  q.clock().advance(499);
  CHECK(starts() == 0);
  q.clock().advance(1);
  CHECK(starts() == 1);
  q.clock().advance(50'000);
  CHECK(starts(1) == 1);
  CHECK(starts() == 2);
  q.clock().advance(250);
  q.set("", PolicyKey::burst, 5);  // what was missing is missing in a larger one
  CHECK(starts() == 2);
  CHECK(q.lease_all({}).next_wake_ms == 250);
  q.set("", PolicyKey::rate, 1, 1'000);  // what was taken by another rate is paid
  CHECK(starts() == 5);
  CHECK(q.lease_all({}).next_wake_ms == 1'000);
  q.unset("", PolicyKey::rate);
  CHECK(starts() == 24 - 14);
}

TEST_CASE("tenants in one pool start no more often than its rate, and others wait for none") {
  ON_EVERY_ENGINE(q);
  const PoolRule pool{"p", {{PolicyKey::rate, 1, 1'000, {}}, {PolicyKey::burst, 2, 0, {}}}};
  REQUIRE(q.door().policy_load({{}, {}, {pool}}, {.inode = 1}).ok());
  for (int i = 0; i < 8; ++i) {
    const std::string tenant(1, static_cast<char>('a' + i));
    if (i != 0) REQUIRE(q.door().policy_set(tenant, {{{PolicyKey::pool, 0, 0, "p"}}, {}}).ok());
    q.push(tenant, "x");
  }
  const auto starts = [&] { return q.lease_all({.want = 100}).deliveries.size(); };
  CHECK(starts() == 1 + 2);
  CHECK(q.lease_all({}).next_wake_ms == 1'000);
  q.clock().advance(999);
  CHECK(starts() == 0);
  q.clock().advance(1);
  CHECK(starts() == 1);
  REQUIRE(q.door().policy_load({}, {.inode = 2}).ok());
  CHECK(starts() == 4);
}

TEST_CASE(
    "what is unlimited limits nothing, whatever limit it was before, and holds again as one afterwards") {
  ON_EVERY_ENGINE(q);
  const PolicyKey limits[] = {PolicyKey::concurrency, PolicyKey::rate, PolicyKey::max_messages,
                              PolicyKey::max_bytes};
  const auto values = [&](int64_t number, bool of_pool) {
    PolicyValues all;
    for (const PolicyKey key : limits) {
      const bool is_rate = key == PolicyKey::rate;
      if (!of_pool || is_rate || key == PolicyKey::concurrency)
        all.push_back({key, number, is_rate && number != kUnlimited ? 1'000 : 0, {}});
    }
    return all;
  };
  REQUIRE(q.door().policy_set("pooled", {{{PolicyKey::pool, 0, 0, "p"}}, {}}).ok());
  uint64_t loads = 0;
  const auto load = [&](int64_t number) {
    const Policy policy{
        values(number, false), {{"named", values(number, false)}}, {{"p", values(number, true)}}};
    REQUIRE(q.door().policy_load(policy, {.inode = ++loads}).ok());
  };
  const auto can_all = [&] {
    for (const char* tenant : {"pooled", "named", "other"}) q.push_many(tenant, 3);
    const LeaseReply taken = q.lease_all({.want = 100});
    for (const Delivery& each : taken.deliveries) CHECK(q.ack(each) == SettleStatus::ok);
    return taken.deliveries.size() == 9;
  };
  load(kUnlimited);
  CHECK(can_all());
  load(1);
  CHECK(q.push("other", "x") != MessageId{});
  CHECK(q.lease_all({.want = 100}).deliveries.size() == 1);
  load(kUnlimited);
  q.clock().advance(1'000);
  CHECK(can_all());
  CHECK(fault_of_check(q.door()) == "");
}

TEST_CASE("tenants in one pool run no more at once than it allows, and no slot is lost") {
  ON_EVERY_ENGINE(q);
  const auto load = [&](int64_t concurrency, uint64_t inode) {
    Policy policy{{}, {}, {{"p", {{PolicyKey::concurrency, concurrency, 0, {}}}}}};
    FileIdentity identity;
    identity.inode = inode;
    REQUIRE(q.door().policy_load(policy, identity).ok());
  };
  load(2, 1);
  for (const char* tenant : {"a", "b", "c"}) {
    REQUIRE(q.door().policy_set(tenant, {{{PolicyKey::pool, 0, 0, "p"}}, {}}).ok());
    for (int i = 1; i <= 3; ++i) q.push(tenant, tenant + std::to_string(i));
  }
  q.push("free", "f1");
  std::map<std::string, size_t> running, left = {{"a", 3}, {"b", 3}, {"c", 3}};
  std::optional<Delivery> one;  // of those that run in the pool
  // Whose turn it is, however it comes about: an ack, a lower limit, a higher one, a tenant that leaves.
  const auto take = [&] {
    std::string payloads;
    for (Delivery& each : q.lease_all({.want = 100}).deliveries) {
      payloads += (payloads.empty() ? "" : " ") + payload_of(each);
      if (each.tenant == "free") continue;
      ++running[each.tenant], --left[each.tenant];
      if (!one) one = std::move(each);
    }
    return payloads;
  };
  const auto check = [&](size_t most, size_t taken, const std::string& payloads,
                         const std::string& expected) {
    CHECK(running["a"] + running["b"] + running["c"] == most);
    CHECK(std::count(payloads.begin(), payloads.end(), ' ') + (payloads.empty() ? 0 : 1) ==
          static_cast<std::ptrdiff_t>(taken));
    if (q.door().caps().exact_global_order) CHECK(payloads == expected);
  };
  check(2, 3, take(), "a1 b1 f1");
  CHECK(take().empty());
  REQUIRE(one);
  CHECK(q.ack(*one) == SettleStatus::ok);
  --running[one->tenant];
  check(2, 1, take(), "c1");
  load(1, 2);
  CHECK(take().empty());
  load(3, 3);
  check(3, 1, take(), "a2");
  // It takes along what it runs.
  const size_t room = running["c"], rest = left["c"];
  REQUIRE(q.door().policy_set("c", {{{PolicyKey::pool, 0, 0, ""}}, {}}).ok());
  check(3 + room + rest, room + rest, take(), "b2 c2 c3");
}

TEST_CASE("a paused tenant or queue takes pushes and serves nothing") {
  ON_EVERY_ENGINE(q);
  for (const char* path : {"a", ""}) {
    q.set(path, PolicyKey::paused, 1);
    q.push("a/x", "m");
    CHECK(q.served().empty());
    CHECK(q.lease_all({}).next_wake_ms == std::nullopt);
    q.unset(path, PolicyKey::paused);
    CHECK(q.served() == "m");
  }
}

TEST_CASE("settings are refused where they do not belong") {
  ON_EVERY_ENGINE(q);
  if (!q.door().policy_set("a", {{{PolicyKey::order, 1, 0, {}}}, {}}).ok()) {
    CHECK_FALSE(q.door().policy_set("", {{{PolicyKey::weight, 2'000, 0, {}}}, {}}).ok());
    CHECK_FALSE(q.door().policy_set("", {{{PolicyKey::limited, 2'000, 0, {}}}, {}}).ok());
    CHECK_FALSE(q.door().policy_set("a", {{}, {PolicyKey::attempts}}).ok());
    CHECK_FALSE(q.door().policy_set("a", {{{PolicyKey::weight, 99, 0, {}}}, {}}).ok());
    CHECK_FALSE(q.door().policy_set("a", {{{PolicyKey::rate, 0, 1'000, {}}}, {}}).ok());
    CHECK_FALSE(q.door().policy_set("", {{{PolicyKey::attempts, 70'000, 0, {}}}, {}}).ok());
  }
}

}  // namespace fq::test
