// standings_test - how tenants stand beside each other: shares, service, age, and what is in their way.
#include "tests/api/contract.h"

namespace fq::test {

namespace {

std::vector<StatsRow> rows_of(QueueFixture& q, const std::string& below = {}) {
  return q.door().stats({.tenants = true, .tenant = below}).value().rows;
}
void serve(QueueFixture& q, int count) {
  for (int i = 0; i < count; ++i) q.ack(q.lease());
}
/// "a:paused b:-": each tenant, with a star where it is counted as parked, and what keeps it from being
/// served.
std::string obstacles(QueueFixture& q) {
  std::string all;
  for (const StatsRow& row : rows_of(q)) {
    all.append(all.empty() ? "" : " ").append(row.tenant).append(row.parked_tenants != 0 ? "*:" : ":");
    all.append(row.blocked ? name_of(*row.blocked) : "-");
    CHECK((row.share.value() == 0) == (row.blocked.has_value() || row.ready == 0));
  }
  return all;
}

}  // namespace

TEST_CASE("who has something ready and may not be served is parked, whatever above it is in the way") {
  ON_EVERY_ENGINE(q);
  for (const char* tenant : {"acct/a", "acct/b", "acct/c", "z"}) q.push(tenant, "x");
  CHECK(obstacles(q) == "acct/a:- acct/b:- acct/c:- z:-");
  CHECK(q.stats().parked_tenants == 0);
  q.set("acct", PolicyKey::paused, 1);
  CHECK(obstacles(q) == "acct/a*:paused acct/b*:paused acct/c*:paused z:-");
  CHECK(q.stats().parked_tenants == 3);
  CHECK(q.stats("z").share.value() == 1);
  q.set("acct/a", PolicyKey::paused, 1);
  CHECK(q.stats().parked_tenants == 3);  // each once
  q.unset("acct", PolicyKey::paused);
  CHECK(obstacles(q) == "acct/a*:paused acct/b:- acct/c:- z:-");
  CHECK(q.stats().parked_tenants == 1);
  q.set("z", PolicyKey::paused, 1);
  q.pop(2);
  CHECK(obstacles(q) == "acct/a*:paused acct/b:- acct/c:- z*:paused");
  q.unset("z", PolicyKey::paused);
  q.pop(1);
  q.set("z", PolicyKey::paused, 1);
  CHECK(obstacles(q) == "acct/a*:paused acct/b:- acct/c:- z:paused");
  CHECK(q.stats().parked_tenants == 1);  // there is nothing that waits
}

TEST_CASE("what keeps a whole queue from being served parks each of its tenants, and is none of them") {
  ON_EVERY_ENGINE(q);
  for (const char* tenant : {"a", "a", "b", "c"}) q.push(tenant, "x");
  q.set("", PolicyKey::paused, 1);
  CHECK(obstacles(q) == "a*:paused b*:paused c*:paused");
  CHECK(q.stats().parked_tenants == 3);
  q.unset("", PolicyKey::paused);
  CHECK(obstacles(q) == "a:- b:- c:-");
  if (q.door().caps().pool_slack > 0) return;  // who lacks a slot in its shard may get one of another
  q.set("", PolicyKey::concurrency, 2);
  const Delivery first = q.lease(), second = q.lease();
  CHECK(obstacles(q) == "a*:concurrency b:concurrency c*:concurrency");
  CHECK(q.stats().parked_tenants == 2);
  q.ack(first);
  CHECK(obstacles(q) == "a:- b:- c:-");
  CHECK(q.stats().parked_tenants == 0);
}

TEST_CASE("of several things in the way of a tenant the one is told that lasts longest") {
  ON_EVERY_ENGINE(q);
  for (const char* tenant : {"a", "a", "b"}) q.push(tenant, "x");
  q.set("a", PolicyKey::concurrency, 1);
  const LeaseRequest of_a = [] {
    LeaseRequest request = timed_lease();
    request.tenant = "a";
    return request;
  }();
  REQUIRE(q.lease_all(of_a).deliveries.size() == 1);
  CHECK(obstacles(q) == "a*:concurrency b:-");
  REQUIRE(q.door().policy_set("a", limited_for(1'000)).ok());
  CHECK(obstacles(q) == "a*:limited b:-");
  q.set("a", PolicyKey::paused, 1);
  CHECK(obstacles(q) == "a*:paused b:-");
}

TEST_CASE("tenants that get what they are entitled to have the index 1") {
  ON_EVERY_ENGINE(q);
  q.push_many("a", 400);
  q.push_many("b", 400);
  q.set("b", PolicyKey::weight, 3000);
  CHECK_FALSE(q.stats().jain.has_value());  // nothing was given yet
  serve(q, 200);
  CHECK(q.stats().jain.value() == Approx(1).margin(0.01));
  CHECK(q.stats("a").share.value() == Approx(0.25));
  CHECK(q.stats("b").share.value() == Approx(0.75));
  CHECK(q.stats("a").served_share.value() == Approx(0.25).margin(0.03));
  CHECK(q.stats("b").served_share.value() == Approx(0.75).margin(0.03));
  q.set("", PolicyKey::paused, 1);
  CHECK(q.stats().jain.value() == Approx(1).margin(0.01));  // as fair as before
}

TEST_CASE("who was given nothing lately shows in the index") {
  ON_EVERY_ENGINE(q);
  q.push_many("a", 100);
  serve(q, 50);
  CHECK_FALSE(q.stats().jain.has_value());  // one alone is neither fair nor unfair
  CHECK(q.stats("a").served_share.value() == 1);
  q.push_many("b", 100);
  CHECK(q.stats().jain.value() == Approx(0.5));
  CHECK(q.stats("b").served_share.value() == 0);
  serve(q, 40);
  q.clock().advance(60'000);
  serve(q, 40);
  CHECK(q.stats().jain.value() > 0.9);
}

TEST_CASE("an account's share is what its tenants have together") {
  ON_EVERY_ENGINE(q);
  for (const char* tenant : {"a/x", "a/y", "b"}) q.push_many(tenant, 100);
  q.push("a", "of the account itself");
  CHECK(q.stats("a").share.value() == Approx(1.0 / 6));
  CHECK(q.stats("a/x").share.value() == Approx(1.0 / 6));
  while (q.stats().acked < 80) q.ack(q.lease());
  CHECK(q.stats("a").share.value() == 0);  // it has nothing left
  CHECK_FALSE(q.stats("a").served_share.has_value());
  CHECK(q.stats().jain.value() > 0.98);
  const std::vector<StatsRow> rows = rows_of(q, "a");
  REQUIRE(rows.size() == 3);
  CHECK(rows[1].tenant == "a/x");
  CHECK(rows[1].share.value() == Approx(0.25));
  CHECK(rows[1].served_share.value() == Approx(0.25).margin(0.03));
}

TEST_CASE("where turns are paid by bytes what was given is bytes") {
  ON_EVERY_ENGINE(q);
  q.set("", PolicyKey::fair_by, static_cast<int64_t>(FairBy::bytes));
  for (int i = 0; i < 40; ++i) q.push("large", std::string(64'000, 'x'));
  for (int i = 0; i < 400; ++i) q.push("small", std::string(6'400, 'x'));
  serve(q, 110);
  CHECK(q.stats().fair_by == FairBy::bytes);
  if (q.door().caps().shards > 1) return;  // between shards each turn counts alike
  CHECK(q.stats("large").served_share.value() == Approx(0.5).margin(0.06));
  CHECK(q.stats().jain.value() > 0.98);
}

TEST_CASE("the age of a queue is that of what waits longest in it") {
  ON_EVERY_ENGINE(q);
  CHECK_FALSE(q.stats().oldest_ready_s.has_value());
  q.push("a", "x");
  q.clock().advance(2'000);
  q.push("b", "x");
  q.clock().advance(1'000);
  CHECK(q.stats().oldest_ready_s.value() == Approx(3));
  CHECK(q.stats("a").oldest_ready_s.value() == Approx(3));
  CHECK(q.stats("b").oldest_ready_s.value() == Approx(1));
  q.lease_all(timed_lease(2));
  CHECK_FALSE(q.stats().oldest_ready_s.has_value());
  CHECK_FALSE(q.stats("a").oldest_ready_s.has_value());
}

TEST_CASE("what comes back to the front hides nothing that waits longer") {
  ON_EVERY_ENGINE(q);
  for (int i = 0; i < 20; ++i) q.push("a", "x");
  q.clock().advance(3'000);
  const auto hand_out_and_back = [&](int count) {
    std::vector<Delivery> held;
    for (int i = 0; i < count; ++i) held.push_back(q.lease());
    for (const Delivery& each : held) CHECK(q.release(each) == SettleStatus::ok);
  };
  hand_out_and_back(15);
  CHECK(q.stats().oldest_ready_s.value() == Approx(3));
  CHECK(q.stats("a").oldest_ready_s.value() == Approx(3));
  hand_out_and_back(16);  // so far and no farther
  CHECK(q.stats("a").oldest_ready_s.value() == Approx(0));
  q.lease_all(timed_lease(20));
  CHECK_FALSE(q.stats().oldest_ready_s.has_value());
}

}  // namespace fq::test
