// explain_test - why a message is served when it is, and why it waits.
#include "tests/api/contract.h"
#include "tests/api/history_view.h"

// System.
#include <algorithm>
#include <map>

namespace fq::test {

namespace {

std::optional<Explanation> explain(QueueFixture& q, MessageId id) {
  const Result<ExplainReply> reply = q.door().explain({.id = id, .tenant = {}});
  REQUIRE(reply.ok());
  std::optional<Explanation> subject = reply->subject;
  if (!subject) return subject;
  for (Reason& reason : subject->reasons) reason.node = q.named(reason.node);
  return subject;
}

std::string why(QueueFixture& q, MessageId id) { return said_of(explain(q, id)); }

/// Where turns are bounded only no place is told, and none too early at which it comes at the latest.
void check_place(QueueFixture& q, const Explanation& told, uint64_t place) {
  const bool is_exact = q.door().caps().exact_global_order;
  CHECK(told.place == (is_exact ? std::optional(place) : std::nullopt));
  if (!is_exact) CHECK(told.place_max.value_or(0) >= place);
}

/// It is ready, and only turns are before it.
void check_turn(QueueFixture& q, MessageId id, uint64_t place, const std::string& why_there) {
  Explanation told = explain(q, id).value();
  check_place(q, told, place);
  told.place.reset();
  CHECK(said_of(told) == "ready, " + why_there);
}

std::vector<Explanation> next(QueueFixture& q, size_t n, const std::string& tenant = "") {
  const Result<ExplainReply> reply = q.door().explain({.id = {}, .tenant = q.path(tenant), .next = n});
  REQUIRE(reply.ok());
  return reply->next;
}

/// What is told to come next is what is served next, and then comes what a limit keeps.
void check_told_order(QueueFixture& q, const std::string& tenant = "") {
  const std::vector<Explanation> told = next(q, 100, tenant);
  std::vector<Explanation> each;
  for (const Explanation& one : told) each.push_back(explain(q, *one.id).value());
  LeaseRequest request = timed_lease(100);
  request.tenant = tenant;
  const std::vector<Delivery> served = q.lease_all(request).deliveries;
  REQUIRE(told.size() > served.size());
  for (size_t i = 0; i < told.size(); ++i) {
    CAPTURE(i, number(*told[i].id));
    const bool limited = i >= served.size();
    CHECK(told[i].limited == limited);
    if (!limited) CHECK(served[i].id == told[i].id);
    if (!tenant.empty()) continue;
    CHECK(each[i].limited == limited);
    check_place(q, each[i], i + 1);
  }
}

}  // namespace

TEST_CASE("what waits for its turn only has a place") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  const MessageId a1 = q.push("a", "1"), a2 = q.push("a", "2"), b1 = q.push("b", "3");
  check_turn(q, a1, 1, "behind 0");
  check_turn(q, b1, 2, "behind 0");
  check_turn(q, a2, 3, "behind 1");
}

TEST_CASE("each thing that is in the way is told, and none of them alone is enough") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  const MessageId id = q.push("acme/a", "x");
  q.set("acme", PolicyKey::paused, 1);
  CHECK(why(q, id) == "ready, behind 0, paused 'acme'");
  q.set("acme/a", PolicyKey::concurrency, 1);
  q.set("", PolicyKey::paused, 1);
  CHECK(why(q, id) == "ready, behind 0, paused '', paused 'acme'");
  q.unset("acme", PolicyKey::paused);
  q.unset("", PolicyKey::paused);
  const Delivery d = q.lease();
  const MessageId behind = q.push("acme/a", "y");
  CHECK(why(q, behind) == "ready, behind 0, concurrency 'acme/a' 1 of 1");
  CHECK(why(q, d.id).starts_with("leased, leased ''"));
  q.ack(d);
  check_turn(q, behind, 1, "behind 0");
  CHECK(why(q, d.id) == "acked, ended ''");
}

TEST_CASE("of a limit that is reached some of those are told that hold its slots") {
  ON_EVERY_ENGINE(q);
  q.set("acme", PolicyKey::concurrency, 3);
  std::vector<MessageId> running;
  for (const char* tenant : {"acme", "acme/a", "acme/b"}) running.push_back(q.push(tenant, "x"));
  q.push("acmes", "y");
  REQUIRE(q.lease_all({.want = 2}).deliveries.size() == 2);
  REQUIRE(q.lease_all(timed_lease(2)).deliveries.size() == 2);
  q.push("acme", "later", {.delay_ms = 1'000});
  const std::optional<Explanation> found = explain(q, q.push("acme/b", "z"));
  REQUIRE((found && found->reasons.size() == 1));
  std::vector<MessageId> told = found->reasons[0].ids;
  std::sort(told.begin(), told.end());
  std::sort(running.begin(), running.end());
  CHECK(told == running);
  const ExplainReply blocked = q.door().explain({.id = {}, .tenant = "acme"}).value();
  if (!blocked.blocked.empty()) CHECK(blocked.blocked[0].reasons.at(0).ids.size() == 3);
}

TEST_CASE("the time that is told is the time at which it is served") {
  ON_EVERY_ENGINE(q);
  q.set("a", PolicyKey::rate, 1, 60'000);
  const MessageId first = q.push("a", "1"), second = q.push("a", "2");
  const Delivery taken = q.lease();
  CHECK(taken.id == first);
  q.ack(taken);
  const std::optional<Explanation> explained = explain(q, second);
  REQUIRE((explained && explained->reasons.size() == 1));
  CHECK(explained->reasons[0].kind == Reason::Kind::rate);
  const int64_t wait_ms = explained->reasons[0].until_wall_ms.value() - q.clock().wall_ms();
  q.clock().advance(wait_ms - 1);
  CHECK(next(q, 1).empty());
  q.clock().advance(1);
  REQUIRE(next(q, 1).size() == 1);
  CHECK(q.lease().id == second);
}

TEST_CASE("a message has expired where time ended it, whatever its last error says") {
  ON_EVERY_ENGINE(q);
  const auto now = [&] { return std::to_string(q.clock().wall_ms()); };
  const MessageId late = q.push("b", "1", {.ttl_ms = 1'000});
  q.clock().advance(1'000);
  CHECK(why(q, late) == "dead, expired '' until " + now());
  CHECK(q.mutate({late}, Action::kick).changed == 1);
  q.bury(q.lease());
  CHECK(why(q, late) == "dead, dead '' until " + now());
  const MessageId said = q.push("b", "2");
  q.bury(q.lease(), "expired");
  CHECK(why(q, said) == "dead, dead '' until " + now());
}

TEST_CASE("what is delayed, held or dead says so, and what keeps its tenant as well") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  const MessageId delayed = q.push("a", "1", {.delay_ms = 5'000});
  q.set("a", PolicyKey::paused, 1);
  const std::string until = std::to_string(q.clock().wall_ms() + 5'000);
  CHECK(why(q, delayed) == "delayed, delayed '' until " + until + ", paused 'a'");
  const MessageId dead = q.push("b", "2");
  q.bury(q.lease());
  CHECK(why(q, dead) == "dead, dead '' until " + std::to_string(q.clock().wall_ms()));
  const MessageId late = q.push("b", "3", {.ttl_ms = 1'000});
  q.clock().advance(1'000);
  CHECK(why(q, late) == "dead, expired '' until " + std::to_string(q.clock().wall_ms()));
  NewMessage held{.tenant = q.path("b")};
  held.after = {delayed};
  const MessageId id = q.door().push({&held, 1}).value().items.at(0).id;
  CHECK(why(q, id) == "held, held ''");
}

TEST_CASE("a tenant that has only what is delayed, or held, is explained") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  const MessageId delayed = q.push("late", "1", {.delay_ms = 5'000});
  NewMessage held{.tenant = q.path("behind")};
  held.after = {delayed};
  REQUIRE(q.door().push({&held, 1}).ok());
  for (const char* tenant : {"late", "behind"}) {
    CAPTURE(tenant);
    CHECK(q.door().explain({.id = {}, .tenant = q.path(tenant)}).value().subject.has_value());
  }
}

TEST_CASE("a message that never was is not explained") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "x");
  for (const uint64_t other : {uint64_t{0}, number(id) + 1, kMessageIdMax})
    CHECK(!explain(q, MessageId{other}).has_value());
  const Result<ExplainReply> nobody = q.door().explain({.id = {}, .tenant = "nobody"});
  REQUIRE(nobody.ok());
  CHECK(!nobody->subject.has_value());
  CHECK(nobody->next.empty());
}

TEST_CASE("what is told to come next is what is served next") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  for (const char* tenant : {"a", "b/x", "b/y", "c"}) q.push_many(tenant, 5);
  q.set("a", PolicyKey::weight, 3'000);
  const std::vector<Explanation> told = next(q, 20);
  REQUIRE(told.size() == 20);
  for (const Explanation& one : told) {
    const Delivery d = q.lease();
    CHECK(d.id == one.id);
    CHECK(d.tenant == q.named(one.tenant));
    q.ack(d);
  }
}

TEST_CASE("who waits for a limit that those before it use up comes behind all that can start") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  q.set("a", PolicyKey::rate, 1, 3'600'000);
  std::vector<MessageId> a, b;
  for (int i = 0; i < 3; ++i) {
    a.push_back(q.push("a", "x"));
    b.push_back(q.push("b", "x"));
  }
  check_turn(q, a[0], 1, "behind 0");
  check_turn(q, b[0], 2, "behind 0");
  check_turn(q, b[2], 4, "behind 2");
  check_turn(q, a[1], 5, "behind 1, limited");
  check_turn(q, a[2], 6, "behind 2, limited");
  check_told_order(q);
}

TEST_CASE("the turns of an account go to those of it that can start") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  const bool by_rank = GENERATE(false, true);
  if (by_rank && !q.set_scope_of_queue()) return;
  q.set("x/a", PolicyKey::concurrency, 1);
  for (const char* tenant : {"x/a", "x/b", "y", "z"}) q.push_many(tenant, 4);
  q.set("z", PolicyKey::concurrency, 2);
  check_told_order(q);
}

TEST_CASE("an account's limit is used up by all that is below it, and so is a pool by its members") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  Settings settings;
  settings.scope = GENERATE(Scope::tenant, Scope::queue);
  if (settings.scope == Scope::queue && !q.set_scope_of_queue()) return;
  const PoolRule pool{"p", {{PolicyKey::concurrency, 3, 0, {}}}};
  REQUIRE(q.door().policy_load({values_of(settings), {}, {pool}}, {.inode = 9}).ok());
  for (const char* tenant : {"x/b", "y", "z"})
    REQUIRE(q.door().policy_set(q.path(tenant), {{{PolicyKey::pool, 0, 0, "p"}}, {}}).ok());
  q.set("x", PolicyKey::concurrency, 4);
  for (const char* tenant : {"x/a", "x/b", "y", "z", "free"}) q.push_many(tenant, 4);
  const std::string tenant = GENERATE("", "x");
  if (q.door().caps().pool_slack == 0) return check_told_order(q, tenant);
  // A slot that another shard has lent comes with a later turn; and none is lost.
  const std::vector<Explanation> told = next(q, 100, tenant);
  CHECK(told.size() == (tenant.empty() ? 20 : 8));
  CHECK(std::is_partitioned(told.begin(), told.end(), [](const Explanation& one) { return !one.limited; }));
  LeaseRequest request = timed_lease(100);
  request.tenant = tenant;
  std::map<std::string, int> served;
  for (const Delivery& each : q.lease_all(request).deliveries) ++served[each.tenant];
  CHECK(served["x/a"] + served["x/b"] == 4);
  CHECK(served["x/b"] + served["y"] + served["z"] <= 3);
  if (tenant.empty()) CHECK(served["x/b"] + served["y"] + served["z"] == 3);
  if (tenant.empty()) CHECK(served["free"] == 4);
}

TEST_CASE("a place that is far is not told too early, whatever limit those before it use up") {
  ON_EVERY_ENGINE(q);
  const auto latest = [&](MessageId id) {
    const Explanation told = explain(q, id).value();
    return told.place ? told.place : told.place_max;
  };
  SECTION("its own") {
    q.set("a", PolicyKey::concurrency, 100);
    q.set("a", PolicyKey::weight, 10'000);
    q.push_many("a", 599);
    const MessageId id = q.push("a", "x");
    q.push_many("b", 300);
    REQUIRE(latest(id).has_value());
    CHECK(*latest(id) >= 900);
  }
  SECTION("that of its account") {
    q.set("x", PolicyKey::concurrency, 300);
    q.set("y", PolicyKey::weight, 3'000);
    q.push_many("x/a", 69);
    const MessageId starts = q.push("x/a", "x");
    q.push_many("x/a", 129);
    const MessageId limited = q.push("x/a", "x");
    q.push_many("x/b", 250);
    q.push_many("y", 1'500);
    CHECK(latest(limited).value_or(2'000) >= 1'899);
    REQUIRE(latest(starts).has_value());
    CHECK(*latest(starts) >= 555);
  }
  SECTION("that of a pool") {
    const PoolRule pool{"p", {{PolicyKey::concurrency, 300, 0, {}}}};
    REQUIRE(q.door().policy_load({{}, {}, {pool}}, {.inode = 9}).ok());
    for (const char* tenant : {"x", "z"})
      REQUIRE(q.door().policy_set(tenant, {{{PolicyKey::pool, 0, 0, "p"}}, {}}).ok());
    q.set("y", PolicyKey::weight, 3'000);
    q.push_many("x", 199);
    const MessageId limited = q.push("x", "x");
    q.push_many("z", 250);
    q.push_many("y", 1'500);
    CHECK(latest(limited).value_or(2'000) >= 1'899);
  }
}

}  // namespace fq::test
