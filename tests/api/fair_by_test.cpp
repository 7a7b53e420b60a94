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
  return page->messages.empty() ? "" : q.named(page->messages[0].tenant);
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
  q.needs_one_account();
  fair_by(q, FairBy::bytes);
  fill(q, "long", 20, 6400);
  fill(q, "short", 60, 640);
  CHECK(turns_of(q, "long", 44, 0, 0) == 4);
}

TEST_CASE("by time, long runs have as much time as short ones") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
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
      q.needs_one_account();
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
  q.needs_one_account();
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

TEST_CASE("by time, a debt is forgiven while messages gather, also where these end before their turn") {
  for (const std::string way : {"expires", "is cancelled", "is put off"}) {
    CAPTURE(way);
    ON_EVERY_ENGINE(q);
    const PolicyValue time{PolicyKey::fair_by, static_cast<int64_t>(FairBy::time), 0, {}};
    const PolicyValue linger{PolicyKey::linger, 10'000, 0, {}};
    REQUIRE(q.door().policy_set("", {{time, linger}, {}}).ok());
    q.push("x/c", "first");  // what is usual is short
    q.clock().advance(1);
    q.push("x/a", "first");
    q.clock().advance(10'000);
    REQUIRE(run(q, 10) == "x/c");
    REQUIRE(run(q, 50'000) == "x/a");
    q.clock().advance(20'000);
    NewMessage message{.tenant = "x/a", .payload = as_bytes("x"), .ttl_ms = 5'000};
    const MessageId id = q.door().push({&message, 1}).value().items.at(0).id;
    if (way == "is cancelled") REQUIRE(q.door().mutate({&id, 1}, Action::cancel)->changed == 1);
    if (way == "is put off") REQUIRE(q.door().edit(id, {.delay_ms = 3'000'000}).value() == SettleStatus::ok);
    q.clock().advance(25'000);
    q.push("x/a", "second");
    q.clock().advance(1);
    q.push("x/b", "first");
    q.clock().advance(10'000);
    CHECK(next_tenant(q) == "x/a");
  }
}

TEST_CASE("by time, a debt is not forgiven for the time that messages waited before they gather") {
  ON_EVERY_ENGINE(q);
  fair_by(q, FairBy::time);
  q.push("x/c", "first");  // what is usual is short
  q.clock().advance(1);
  fill(q, "x/a", 2);
  REQUIRE(run(q, 10) == "x/c");
  REQUIRE(run(q, 50'000) == "x/a");
  q.clock().advance(60'000);
  const PolicyValue linger{PolicyKey::linger, 150'000, 0, {}};
  REQUIRE(q.door().policy_set("", {{linger}, {}}).ok());
  q.push("x/b", "first");
  q.clock().advance(155'000);
  CHECK(next_tenant(q) == "x/b");
}

TEST_CASE("by time, what was charged before a tenant was made level does not come back to it") {
  for (const std::string way : {"comes again", "is freed", "has room in its pool",
                                "has had a turn in its pool", "another cost for a while"}) {
    CAPTURE(way);
    ON_EVERY_ENGINE(q);
    q.needs_one_account();
    fair_by(q, FairBy::time);
    const auto make_room = [&](int64_t room) {
      const PoolRule rule{"p", {{PolicyKey::concurrency, room, 0, {}}}};
      REQUIRE(q.door().policy_load({{}, {}, {rule}}, {.inode = static_cast<uint64_t>(room)}).ok());
    };
    make_room(2);
    fill(q, "a", 3);
    REQUIRE(run(q, 600'000) == "a");
    const LeaseReply under_way = q.lease_all({.want = 2});  // and they are expected to take as long
    REQUIRE(under_way.deliveries.size() == 2);
    const bool has_had = way == "has had a turn in its pool",
               in_pool = has_had || way == "has room in its pool";
    const bool waits = in_pool || way == "is freed";
    if (waits) fill(q, "a", 4);
    const PolicyValue paused{PolicyKey::paused, 1, 0, {}}, pool{PolicyKey::pool, 0, 0, "p"};
    if (waits) REQUIRE(q.door().policy_set(q.path("a"), {{in_pool ? pool : paused}, {}}).ok());
    fill(q, "b", 80);
    for (int i = 0; i < 70; ++i) REQUIRE(run(q, 20'000) == "b");
    if (way == "is freed") q.unset("a", PolicyKey::paused);
    if (way == "another cost for a while") {
      fair_by(q, FairBy::turns);
      fair_by(q, FairBy::time);
    }
    if (!waits) fill(q, "a", 3);
    if (has_had) {
      make_room(4);
      REQUIRE(q.lease_all({.want = 1}).deliveries.at(0).tenant == "a");
    }
    for (const Delivery& each : under_way.deliveries) {
      Settle item;
      item.receipt = each.receipt;
      item.verdict = Verdict::ack;
      item.run_us = 60'000'000;
      REQUIRE(q.door().settle({&item, 1}).ok());
    }
    int its = 0;
    for (int i = 0; i < 2; ++i) its += q.lease_all({.want = 1}).deliveries.at(0).tenant == "a" ? 1 : 0;
    // Who comes is behind by what its first start costs, and who has had a turn by what that one does.
    CHECK(its == (waits && !has_had ? 1 : 0));
  }
}

TEST_CASE("another cost holds at once, for what is queued, and evens out what was ahead") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  fair_by(q, FairBy::time);
  fill(q, "a", 20);
  fill(q, "b", 20);
  REQUIRE(run(q, 3'600'000) == "a");
  fair_by(q, FairBy::turns);
  CHECK(turns_of(q, "a", 10, 0, 0) == 5);
}

}  // namespace fq::test
