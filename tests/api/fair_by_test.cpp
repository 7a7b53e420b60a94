// fair_by_test - turns that are paid in bytes or in run time.
#include "tests/api/contract.h"

namespace fq::test {

namespace {

void fair_by(QueueFixture& q, FairBy what) {
  const PolicyValue value{PolicyKey::fair_by, static_cast<int64_t>(what), 0, {}};
  REQUIRE(q.door().policy_set("", {{value}, {}}).ok());
}

/// Leases the next one and ends it after so long; whose it was.
std::string run(QueueFixture& q, int64_t ms, Verdict verdict = Verdict::ack,
                std::optional<uint64_t> told_us = std::nullopt) {
  const LeaseReply reply = q.lease_all({.want = 1});
  if (reply.deliveries.empty()) return "-";
  q.clock().advance(ms);
  Settle item;
  item.receipt = reply.deliveries[0].receipt;
  item.verdict = verdict;
  item.run_us = told_us;
  const Result<SettleReply> settled = q.door().settle({&item, 1});
  REQUIRE(settled.ok());
  return reply.deliveries[0].tenant;
}

void fill(QueueFixture& q, const std::string& tenant, int count, size_t bytes = 1) {
  for (int i = 0; i < count; ++i) q.push(tenant, std::string(bytes, 'x'));
}

/// Known beforehand: a look changes nothing.
std::string next_tenant(QueueFixture& q) {
  const Result<MessagePage> page = q.door().peek({.tenant = {}, .state = State::ready, .tag = {}}, {}, 1);
  REQUIRE(page.ok());
  return page->messages.empty() ? "" : page->messages[0].tenant;
}

/// Of so many turns, how many were this tenant's.
int turns_of(QueueFixture& q, const std::string& tenant, int turns, int64_t its_ms, int64_t other_ms) {
  int its = 0;
  for (int i = 0; i < turns; ++i) {
    const std::string next = next_tenant(q);
    its += next == tenant ? 1 : 0;
    CHECK(run(q, next == tenant ? its_ms : other_ms) == next);
  }
  return its;
}

}  // namespace

TEST_CASE("by bytes, long payloads have as many bytes as short ones") {
  ON_EVERY_ENGINE(q);
  fair_by(q, FairBy::bytes);
  fill(q, "long", 20, 6400);
  fill(q, "short", 60, 640);
  CHECK(turns_of(q, "long", 44, 0, 0) == 4);
}

TEST_CASE("by time, long runs have as much time as short ones") {
  ON_EVERY_ENGINE(q);
  fair_by(q, FairBy::time);
  fill(q, "long", 20);
  fill(q, "short", 100);
  const int longs = turns_of(q, "long", 88, 1000, 100);
  CHECK(longs >= 8);
  CHECK(longs <= 9);
}

TEST_CASE("by time, whatever ends a run pays for it, and who measures it better is believed") {
  for (const Verdict verdict : {Verdict::ack, Verdict::retry, Verdict::release, Verdict::bury}) {
    for (const bool told : {false, true}) {
      ON_EVERY_ENGINE(q);
      fair_by(q, FairBy::time);
      fill(q, "a", 3);
      fill(q, "b", 30);
      REQUIRE(run(q, 1000, verdict, told ? std::optional<uint64_t>(300'000) : std::nullopt) == "a");
      int others = 0;
      while (run(q, 100) == "b") ++others;
      CHECK(others >= (told ? 3 : 10));
      CHECK(others <= (told ? 4 : 11));
    }
  }
}

TEST_CASE("by time, a lease that runs out is paid") {
  ON_EVERY_ENGINE(q);
  fair_by(q, FairBy::time);
  fill(q, "a", 3);
  fill(q, "b", 30);
  REQUIRE(q.lease_all({.want = 1, .hold = Hold::duration, .hold_ms = 1000}).deliveries.at(0).tenant == "a");
  q.clock().advance(1000);
  int others = 0;
  while (run(q, 100) == "b") ++others;
  CHECK(others >= 10);
  CHECK(others <= 11);
}

TEST_CASE("another cost holds at once, for what is queued, and evens out what was ahead") {
  ON_EVERY_ENGINE(q);
  fair_by(q, FairBy::time);
  fill(q, "a", 20);
  fill(q, "b", 20);
  REQUIRE(run(q, 3'600'000) == "a");
  fair_by(q, FairBy::turns);
  CHECK(turns_of(q, "a", 10, 0, 0) == 5);
}

}  // namespace fq::test
