// retention_test - how long dead letters are kept.
#include "tests/api/contract.h"

namespace fq::test {

namespace {

void keep_dead(QueueFixture& q, int64_t ms) {
  REQUIRE(q.door().policy_set("", {{{PolicyKey::dead_retention, ms, 0, {}}}, {}}).ok());
}

void bury_one(QueueFixture& q, const std::string& payload) {
  q.push("t", payload);
  REQUIRE(q.bury(q.lease()) == SettleStatus::ok);
}

}  // namespace

TEST_CASE("dead letters are kept for ever unless something else is said") {
  ON_EVERY_ENGINE(q);
  bury_one(q, "one");
  q.clock().advance(int64_t{400} * 24 * 3'600'000);
  CHECK(q.pop() == "");
  CHECK(q.stats().dead == 1);
}

TEST_CASE("a dead letter that has had its time is cancelled, the younger ones stay") {
  ON_EVERY_ENGINE(q);
  keep_dead(q, 10'000);
  const MessageId first = q.push("t", "one");
  REQUIRE(q.bury(q.lease()) == SettleStatus::ok);
  q.clock().advance(5'000);
  bury_one(q, "two");
  q.clock().advance(4'999);
  CHECK(q.pop() == "");
  CHECK(q.stats().dead == 2);
  q.clock().advance(1);
  CHECK(q.pop() == "");
  const StatsRow row = q.stats();
  CHECK(row.dead == 1);
  CHECK(row.cancelled == 1);
  CHECK(row.buried == 2);
  CHECK(q.get(first).state == State::cancelled);
  CHECK(q.events(first).ends_with("buried cancelled"));
  CHECK(q.mutate({first}, Action::kick).items.at(0) == SettleStatus::gone);
  q.clock().advance(5'000);
  CHECK(q.pop() == "");
  CHECK(q.stats().dead == 0);
}

TEST_CASE("another time holds for the dead letters that are there") {
  ON_EVERY_ENGINE(q);
  for (int i = 0; i < 40; ++i) bury_one(q, "m" + std::to_string(i));
  q.clock().advance(60'000);
  bury_one(q, "young");
  keep_dead(q, 30'000);
  CHECK(q.pop() == "");
  CHECK(q.stats().dead == 1);
  REQUIRE(q.door().policy_set("", {{}, {PolicyKey::dead_retention}}).ok());
  q.clock().advance(60'000);
  CHECK(q.pop() == "");
  CHECK(q.stats().dead == 1);
}

TEST_CASE("what was kicked is no dead letter any more, and one that dies again is a new one") {
  ON_EVERY_ENGINE(q);
  keep_dead(q, 10'000);
  const MessageId id = q.push("t", "one");
  q.bury(q.lease());
  q.clock().advance(9'000);
  CHECK(q.mutate({id}, Action::kick).changed == 1);
  q.clock().advance(9'000);
  q.bury(q.lease());
  q.clock().advance(9'000);
  CHECK(q.pop() == "");
  CHECK(q.stats().dead == 1);
  q.clock().advance(1'000);
  CHECK(q.pop() == "");
  CHECK(q.stats().dead == 0);
}

TEST_CASE("a message that expired is a dead letter since then") {
  ON_EVERY_ENGINE(q);
  keep_dead(q, 10'000);
  q.push("t", "one", {.ttl_ms = 1'000});
  q.clock().advance(10'900);
  CHECK(q.pop() == "");
  CHECK(q.stats().dead == 1);
  q.clock().advance(100);
  CHECK(q.pop() == "");
  CHECK(q.stats().dead == 0);
}

TEST_CASE("waiting goes on while dead letters go") {
  ON_EVERY_ENGINE_WITH(q, Time::real);
  keep_dead(q, 20);
  bury_one(q, "one");
  LeaseRequest request = timed_lease();
  request.wait = true;
  request.wait_ms = 200;
  CHECK(q.lease_all(request).why_empty == WhyEmpty::timed_out);
  CHECK(q.stats().dead == 0);
}

}  // namespace fq::test
