// pools_test - what tenants share: never more than the pool allows, in the order of turns, and no slot lost.
#include "tests/schedule/fixture.h"

// System.
#include <algorithm>
#include <map>

namespace fq::test {
namespace {

PolicyValue number(PolicyKey key, int64_t value, int64_t second = 0) { return {key, value, second, {}}; }
PolicyValue in_pool(const std::string& name) { return {PolicyKey::pool, 0, 0, name}; }
PoolRule pool_of(const std::string& name, int64_t concurrency) {
  return {name, {number(PolicyKey::concurrency, concurrency)}};
}

const Pool& pool_at(ScheduleFixture& q, const std::string& name) {
  const Schedule s = q.schedule();
  for (uint32_t i = 0; i < q.root().pool_supply.high_water; ++i) {
    const Pool& pool = s.region().pool(i);
    if (pool.used != 0 && text_of(s.region(), pool.name) == name) return pool;
  }
  throw std::runtime_error("no pool " + name);
}

/// Leases until nothing more can be: their tenants.
std::string lease_all(ScheduleFixture& q) {
  std::string out;
  for (uint64_t id; (id = q.lease()) != 0;) out += (out.empty() ? "" : " ") + q.tenant_of(id);
  return out;
}

}  // namespace

TEST_CASE("the members of a pool run no more at once than it allows, and others are not held up") {
  ScheduleFixture q;
  q.load_rules({{"s*", {in_pool("stripe")}}}, {pool_of("stripe", 2)});
  q.push("s1", 2).push("s2", 2).push("s3", 2).push("other", 3);
  CHECK(q.preview_ids() == "1 3 5 7 2 4 6 8 9");
  CHECK(lease_all(q) == "s1 s2 other other other");
  CHECK(pool_at(q, "stripe").leased == 2);
  CHECK(q.schedule().tenants().is_blocked(*q.schedule().tenants().find("s3")));
  CHECK(q.preview_ids().empty());
  CHECK(q.faults().empty());
  // Whose turn it was when it was passed over has it now.
  q.ack(1);
  CHECK(q.preview_ids() == "5 2 4 6");
  CHECK(lease_all(q) == "s3");
  q.ack(3);
  q.ack(5);
  CHECK(lease_all(q) == "s1 s2");
  CHECK(q.faults().empty());
}

TEST_CASE("a ring of many tenants in different pools knows at every moment who has room") {
  const uint32_t seed = GENERATE(range(1u, 4u));
  Dice dice(seed);
  ScheduleFixture q;
  q.load_rules({{"p*", {in_pool("p")}}, {"q*", {in_pool("q")}}, {"r*", {in_pool("r")}}},
               {pool_of("p", 3), pool_of("q", 2), pool_of("r", 1)});
  std::vector<uint64_t> leased;
  for (int i = 0; i < 1500; ++i) {
    const std::string tenant = std::string(1, "pqrs"[dice.roll(4)]) + std::to_string(dice.roll(40));
    if (dice.roll(3) == 0) q.weigh(tenant, 100 + dice.roll(5000));
    if (dice.roll(2) == 0) q.push(tenant);
    if (const uint64_t id = dice.roll(3) == 0 ? 0 : q.lease(); id != 0) leased.push_back(id);
    if (!leased.empty() && dice.roll(2) == 0) {
      const uint32_t which = dice.roll(static_cast<uint32_t>(leased.size()));
      q.ack(leased[which]);
      leased.erase(leased.begin() + which);
    }
    REQUIRE(q.faults().empty());
  }
}

TEST_CASE("what members waited for their pool is not made up") {
  ScheduleFixture q;
  q.load_rules({{"m", {in_pool("p")}}}, {pool_of("p", 1)});
  q.push("m", 100).push("other", 200);
  CHECK(q.lease() == 1);
  for (int i = 0; i < 50; ++i) REQUIRE(q.serve_tenants(1) == "other");
  q.load_rules({{"m", {in_pool("p")}}}, {pool_of("p", 1000)});
  CHECK(q.serve_tenants(7) == "m other m other m other m");
  // Nor when it leaves the pool with that behind it.
  q.load_rules({{"m", {in_pool("p")}}}, {pool_of("p", 1)});
  for (int i = 0; i < 50; ++i) REQUIRE(q.serve_tenants(1) == "other");
  q.load_rules({}, {});
  CHECK(q.serve_tenants(7) == "m other m other m other m");
}

TEST_CASE("a pool gives its slots by weight, at every level") {
  ScheduleFixture q;
  q.load_rules({{"a", {number(PolicyKey::weight, 3000)}}, {"*/api", {in_pool("p")}}}, {pool_of("p", 1)});
  q.push("a/api", 60).push("b/api", 60).push("b/more", 5);
  uint64_t held = q.lease();
  std::map<std::string, int> turns;
  for (int i = 0; i < 40; ++i) {
    // b's other function has its turns meanwhile: they are turns of b.
    q.ack(held);
    held = q.lease();
    ++turns[q.tenant_of(held)];
    REQUIRE(q.tenant_of(held).ends_with("api"));
    if (i == 3) CHECK(lease_all(q) == "b/more b/more b/more b/more b/more");
  }
  CHECK(turns["a/api"] >= 29);
  CHECK(turns["a/api"] <= 32);
  CHECK(q.faults().empty());
}

TEST_CASE("a lease below two members of one pool counts once, below members of two in both") {
  ScheduleFixture q;
  q.load_rules(
      {{"a", {in_pool("p")}}, {"a/*", {in_pool("p")}}, {"b", {in_pool("p")}}, {"b/*", {in_pool("q")}}},
      {pool_of("p", 3), pool_of("q", 1)});
  q.push("a/1", 2).push("a/2", 2).push("b/1", 2).push("b/2", 2).push("b", 1);
  CHECK(lease_all(q) == "a/1 b/1 a/2");
  CHECK(pool_at(q, "p").leased == 3);
  CHECK(pool_at(q, "q").leased == 1);
  q.ack(1);
  CHECK(lease_all(q) == "b");  // q is full: b's own message needs only p
  CHECK(q.faults().empty());
}

TEST_CASE("leases count to the pool that a node comes into, whatever is below it") {
  ScheduleFixture q;
  q.load_rules({{"a/x*", {in_pool("p")}}, {"a/x1/*", {in_pool("p")}}, {"b*", {in_pool("p")}}},
               {pool_of("p", 100), pool_of("q", 100)});
  q.push("a", 1).push("a/x1", 1).push("a/x1/y", 2).push("a/x2", 1).push("a/z", 1).push("a-", 1).push("b", 1);
  REQUIRE(lease_all(q).size() > 10);
  REQUIRE(q.root().counts.leased == 8);
  const auto leased = [&] {
    CHECK(q.faults().empty());
    return std::pair{pool_at(q, "p").leased.get(), pool_at(q, "q").leased.get()};
  };
  CHECK(leased() == std::pair{5u, 0u});
  q.set("a", {in_pool("p")});
  CHECK(leased() == std::pair{7u, 0u});
  q.set("a", {in_pool("q")});
  CHECK(leased() == std::pair{5u, 6u});
  q.set("a/x1", {in_pool("q")});
  CHECK(leased() == std::pair{4u, 6u});  // a/x1/y is in p still
  q.set("a", {in_pool("")});
  CHECK(leased() == std::pair{4u, 3u});
  q.unset("a/x1", PolicyKey::pool);
  q.unset("a", PolicyKey::pool);
  CHECK(leased() == std::pair{5u, 0u});
  q.set("a", {in_pool("p")});
  q.set("a/x1", {in_pool("q")});
  CHECK(leased() == std::pair{7u, 3u});  // a/x1 and what is below it count in both
  q.set("a/x1", {in_pool("")});
  q.ack(1);
  CHECK(leased() == std::pair{6u, 0u});
}

TEST_CASE("a pool with a rate lets so many start, and wakes with the next token") {
  ScheduleFixture q;
  const PolicyValues terms = {number(PolicyKey::rate, 10, 1000), number(PolicyKey::burst, 2)};
  q.load_rules({{"*", {in_pool("p")}}}, {{"p", terms}});
  q.push("a", 3).push("b", 3);
  CHECK(lease_all(q) == "a b");
  CHECK(q.schedule().timers().next_ms() == q.now + 100);
  CHECK(q.faults().empty());
  q.wait_until(q.now + 99);
  CHECK(lease_all(q).empty());
  q.wait_until(q.now + 1);
  CHECK(lease_all(q) == "a");
  // Its bucket is as empty as it was when all its members are gone and come back.
  for (uint64_t id = 1; id <= 6; ++id) q.ack(id);
  q.push("c", 1);
  CHECK(lease_all(q).empty());
  q.wait_until(q.now + 100);
  CHECK(lease_all(q) == "c");
  CHECK(q.faults().empty());
}

TEST_CASE("a pool's terms change with the file: lower than what runs, higher, gone, back") {
  ScheduleFixture q;
  const std::vector<TenantRule> rules = {{"*", {in_pool("p")}}};
  q.load_rules(rules, {pool_of("p", 4)});
  q.push("a", 20).push("b", 20);
  CHECK(lease_all(q) == "a b a b");
  q.load_rules(rules, {pool_of("p", 2)});
  CHECK(q.faults().empty());
  q.ack(1);
  q.ack(21);
  CHECK(lease_all(q).empty());
  q.ack(2);
  CHECK(lease_all(q) == "a");
  q.load_rules(rules, {pool_of("p", 3)});
  CHECK(lease_all(q) == "b");
  // Gone while it has leases: nothing is limited, and it is forgotten.
  q.load_rules(rules, {pool_of("other", 1)});
  CHECK(q.faults().empty());
  CHECK(q.root().pool_supply.used == 1);
  CHECK(q.lease() != 0);
  q.load_rules(rules, {pool_of("p", 5)});
  CHECK(pool_at(q, "p").leased == 4);
  CHECK(lease_all(q) == "b");
  q.load_rules({}, {});
  CHECK(q.root().pool_supply.used == 0);
  CHECK(q.root().closed_sets == 0);
  CHECK(q.faults().empty());
}

TEST_CASE("no look at many pools is one look at all of them, and none is missed between two") {
  ScheduleFixture q;
  const auto pools = [](int from, int to) {
    std::vector<PoolRule> all;
    for (int i = from; i < to; ++i) all.push_back(pool_of("p" + std::to_string(i), 1));
    return all;
  };
  q.load_rules({}, pools(0, 5'000));
  std::optional<uint32_t> next;
  q.change([&](Schedule& s, Txn& txn) { next = s.policy().remove_old_pools(txn, 0); });
  REQUIRE(next);
  CHECK(*next < 5'000);
  // The last of them, behind the places of those that are gone.
  q.load_rules({{"*", {in_pool("p4999")}}}, pools(4'990, 5'000));
  CHECK(q.root().pool_supply.used == 10);
  q.change([&](Schedule& s, Txn& txn) { next = s.policy().bring_pools_up_to_date(txn, 0, q.now); });
  REQUIRE(next);
  CHECK(*next < 5'000);
  q.push("a", 2);
  CHECK(lease_all(q) == "a");
  q.load_rules({{"*", {in_pool("p4999")}}}, {pool_of("p4999", 2)});
  CHECK(q.root().pool_supply.used == 1);
  CHECK(lease_all(q) == "a");
  CHECK(q.faults().empty());
}

TEST_CASE("a load of pools that is cut off anywhere leaves what held, and the next one what it says") {
  const std::vector<TenantRule> rules = {{"*", {in_pool("p")}}};
  for (int cut = 0; cut < 3; ++cut) {
    ScheduleFixture q;
    q.load_rules(rules, {pool_of("p", 2)});
    q.push("a", 9);
    CHECK(lease_all(q) == "a a");
    const uint32_t generation = q.schedule().policy().new_rules(q.rules_there());
    for (const char* name : {"p", "new"}) {
      q.make_room(Growth::need_of_pool(name));
      q.change([&](Schedule& s, Txn& txn) {
        s.policy().add_pool(txn, generation, name, node_patch({number(PolicyKey::concurrency, 3)}, {}));
      });
    }
    CHECK(q.lease() == 0);
    if (cut > 0)
      q.change([&](Schedule& s, Txn& txn) { s.policy().make_rules_hold(txn, generation, q.rules_there()); });
    if (cut > 1) {
      q.change([&](Schedule& s, Txn& txn) { s.policy().bring_pools_up_to_date(txn, 0, q.now); });
      CHECK(q.lease() != 0);
    }
    CHECK(q.faults().empty());
    q.load_rules(rules, {pool_of("p", 4)});
    CHECK(lease_all(q) == (cut > 1 ? "a" : "a a"));
    CHECK(q.root().pool_supply.used == 1);
    CHECK(q.faults().empty());
  }
}

TEST_CASE("a tenant that becomes an account stays in its pool with its leases") {
  ScheduleFixture q;
  q.load_rules({{"a", {in_pool("p")}}}, {pool_of("p", 2)});
  q.push("a", 3);
  CHECK(q.lease() == 1);
  q.push("a/x", 2);
  CHECK(q.faults().empty());
  CHECK(pool_at(q, "p").leased == 1);
  CHECK(lease_all(q) == "a");
  q.ack(1);
  CHECK(lease_all(q) == "a/x");
  CHECK(q.faults().empty());
}

TEST_CASE("a member that is paused or at a limit of its own takes nobody's slot in the pool") {
  ScheduleFixture q;
  q.load_rules({{"*", {in_pool("p")}}}, {pool_of("p", 2)});
  q.push("a", 3).push("b", 3).push("c", 3);
  q.park("a");
  q.set("b", PolicyKey::concurrency, 1);
  CHECK(lease_all(q) == "b c");
  q.ack(7);
  CHECK(lease_all(q) == "c");
  q.ack(4);
  CHECK(lease_all(q) == "b");
  q.unpark("a");
  q.ack(8);
  CHECK(lease_all(q) == "a");
  CHECK(q.faults().empty());
}

TEST_CASE("more combinations of pools than there are bits are served all the same") {
  ScheduleFixture q(64);
  std::vector<PoolRule> pools = {pool_of("all", 150)};
  std::vector<TenantRule> rules = {{"*", {in_pool("all")}}};
  for (int i = 0; i < 200; ++i) {
    pools.push_back(pool_of("p" + std::to_string(i), 1));
    rules.push_back({"t" + std::to_string(i) + "/x", {in_pool("p" + std::to_string(i))}});
  }
  q.load_rules(rules, pools);
  for (int i = 0; i < 200; ++i) q.push("t" + std::to_string(i) + "/x", 2);
  for (uint64_t id = 1; id <= 299; id += 2) REQUIRE(q.lease() == id);  // in order, one of each
  CHECK(q.lease() == 0);
  CHECK(q.faults().empty());
  q.ack(1);
  CHECK(q.lease() == 301);
  q.ack(301);
  CHECK(q.lease() == 303);
  CHECK(q.faults().empty());
}

TEST_CASE("10,000 pools come and go, and leave nothing behind") {
  ScheduleFixture q(64);
  std::vector<PoolRule> pools;
  for (int i = 0; i < 10'000; ++i) pools.push_back(pool_of("pool " + std::to_string(i) + "/*\xff", 1));
  q.load_rules({{"*", {in_pool("pool 7777/*\xff")}}}, pools);
  q.push("a", 2).push("b", 2);
  CHECK(lease_all(q) == "a");
  CHECK(q.faults().empty());
  q.load_rules({}, {});
  CHECK(q.root().pool_supply.used == 0);
  CHECK(lease_all(q) == "b a b");
  CHECK(q.faults().empty());
}

}  // namespace fq::test
