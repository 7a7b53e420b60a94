// rules_test - what the policy file says of tenants by patterns of their names.
#include "tests/api/contract.h"

// System.
#include <algorithm>

namespace fq::test {

namespace {

PolicyValue value(PolicyKey key, int64_t number, std::string text = {}) {
  return {key, number, 0, std::move(text)};
}
PolicyValue concurrency(int64_t number) { return value(PolicyKey::concurrency, number); }

void load(QueueFixture& q, uint64_t version, std::vector<TenantRule> rules,
          std::vector<PoolRule> pools = {}) {
  FileIdentity identity;
  identity.inode = version;
  const Result<void> loaded = q.door().policy_load({{}, std::move(rules), std::move(pools)}, identity);
  INFO((loaded.ok() ? std::string() : loaded.error().text));
  REQUIRE(loaded.ok());
  CHECK(q.door().policy_is_current(identity).value());
}

}  // namespace

TEST_CASE("a rule holds for those that come and for those that are there; of two the later one") {
  ON_EVERY_ENGINE(q);
  q.push_many("free-there", 4);
  q.push_many("other", 2);
  load(q, 1, {{"free-*", {concurrency(2)}}, {"free-1", {concurrency(3)}}, {"free-there", {concurrency(1)}}});
  q.push_many("free-1", 4);
  q.push_many("free-2", 4);
  CHECK(q.lease_all({.want = 99}).deliveries.size() == 1 + 2 + 3 + 2);
  // Another file: what it does not say is as usual again.
  load(q, 2, {{"free-2", {concurrency(3)}}});
  CHECK(q.lease_all({.want = 99}).deliveries.size() == 3 + 1 + 1);
  load(q, 3, {});
  CHECK(q.served() == "free-24");
}

TEST_CASE("a star does not cross a slash, and a rule for an account holds for all below it together") {
  ON_EVERY_ENGINE(q);
  load(q, 1, {{"a*", {concurrency(2)}}, {"b/*", {concurrency(1)}}});
  for (const char* tenant : {"a/x", "a/y", "b/x", "b/y", "b"}) q.push_many(tenant, 2);
  CHECK(q.lease_all({.want = 99}).deliveries.size() == 2 + 1 + 1 + 2);
}

TEST_CASE("what was set at run time wins over a rule, and without it the rule holds again") {
  ON_EVERY_ENGINE(q);
  load(q, 1, {{"*", {concurrency(1)}}});
  q.set("a", PolicyKey::concurrency, 2);
  q.push_many("a", 5);
  CHECK(q.served() == "a1 a2");
  load(q, 2, {{"*", {concurrency(3)}}});
  CHECK(q.served().empty());
  q.unset("a", PolicyKey::concurrency);
  CHECK(q.served() == "a3");
  load(q, 3, {});
  CHECK(q.served() == "a4 a5");
}

TEST_CASE("something set for a tenant that is not there yet goes with its rule") {
  ON_EVERY_ENGINE(q);
  load(q, 1, {{"*", {concurrency(1)}}});
  q.set("a", PolicyKey::weight, 2'000);
  q.push_many("a", 2);
  CHECK(q.served() == "a1");
}

TEST_CASE("what was set and unset before anything came leaves a tenant to the rules, also to later ones") {
  ON_EVERY_ENGINE(q);
  const auto set_and_unset = [&](const char* tenant) {
    q.set(tenant, PolicyKey::concurrency, 5);
    q.unset(tenant, PolicyKey::concurrency);
  };
  load(q, 1, {{"b", {concurrency(1)}}});
  for (const char* tenant : {"a", "b", "c"}) set_and_unset(tenant);
  load(q, 2, {{"a", {concurrency(1)}}, {"c", {concurrency(1)}}});
  q.push_many("a", 2);
  q.push_many("b", 2);
  q.push_many("c/x", 2);
  CHECK(q.lease_all({.want = 99}).deliveries.size() == 1 + 2 + 1);
}

TEST_CASE("a rule puts tenants into a pool") {
  ON_EVERY_ENGINE(q);
  const std::vector<PoolRule> pools = {{"p", {concurrency(1)}}};
  load(q, 1, {{"in-*", {value(PolicyKey::pool, 0, "p")}}}, pools);
  for (const char* tenant : {"in-1", "in-2", "out"}) q.push_many(tenant, 1);
  const LeaseReply first = q.lease_all({.want = 99});
  REQUIRE(first.deliveries.size() == 2);
  const bool out_first = first.deliveries[0].tenant == "out";
  const Delivery &in = first.deliveries[out_first ? 1 : 0], &out = first.deliveries[out_first ? 0 : 1];
  CHECK(out.tenant == "out");
  if (q.door().caps().exact_global_order) CHECK(payload_of(first.deliveries[0]) == "in-11");
  // What runs counts in the pool that its tenant is in by now.
  load(q, 2, {{"out", {value(PolicyKey::pool, 0, "p")}}}, pools);
  q.push_many("out", 1);
  CHECK(q.served() == (in.tenant == "in-1" ? "in-21" : "in-11"));
  CHECK(q.ack(out) == SettleStatus::ok);
  CHECK(q.served() == "out1");
}

TEST_CASE("a rule gives tenants their weight") {
  ON_EVERY_ENGINE(q);
  load(q, 1, {{"big-*", {value(PolicyKey::weight, 2'000)}}});
  q.push_many("big-1", 4);
  q.push_many("small", 4);
  std::string turns;
  for (const Delivery& each : q.lease_all({.want = 6}).deliveries) turns += payload_of(each)[0];
  CHECK(std::count(turns.begin(), turns.end(), 'b') == 4);
}

TEST_CASE("who was due when a file was loaded comes before those whom it lets in") {
  ON_EVERY_ENGINE(q);
  load(q, 1, {{"a/first", {concurrency(1)}}});
  q.push_many("a/first", 2);
  CHECK(q.served() == "a/first1");
  REQUIRE(q.door().policy_set("a/due", limited_for(1'000)).ok());
  q.push_many("a/due", 1);
  q.clock().advance(2'000);
  load(q, 2, {{"a/first", {concurrency(2)}}});
  CHECK(q.served() == "a/due1 a/first2");
}

TEST_CASE("a file with more rules and tenants than one call takes holds for all of them") {
  ON_EVERY_ENGINE(q);
  for (int i = 0; i < 600; ++i) q.push("t" + std::to_string(i), "there");
  std::vector<TenantRule> rules;
  for (int i = 0; i < 2'000; ++i) rules.push_back({"n" + std::to_string(i), {concurrency(1)}});
  for (int i = 0; i < 300; ++i) rules.push_back({"t" + std::to_string(i) + "*", {concurrency(1)}});
  load(q, 1, rules);
  for (int i = 0; i < 600; ++i) q.push("t" + std::to_string(i), "another");
  q.push_many("n1999", 2);
  size_t served = 0;
  for (size_t got = 1; got > 0; served += got) got = q.lease_all({.want = 256}).deliveries.size();
  // t3 to t29 have a pattern each that takes in all that begin so: none has two places.
  CHECK(served == 600 + 1);
}

}  // namespace fq::test
