// explain_test - why a message is served when it is, and why it waits.
#include "tests/api/contract.h"
#include "tests/api/history_view.h"

// System.
#include <algorithm>

namespace fq::test {

namespace {

std::optional<Explanation> explain(QueueFixture& q, MessageId id) {
  const Result<ExplainReply> reply = q.door().explain({.id = id, .tenant = {}});
  REQUIRE(reply.ok());
  return reply->subject;
}

std::string why(QueueFixture& q, MessageId id) { return said_of(explain(q, id)); }

std::vector<Explanation> next(QueueFixture& q, size_t n, const std::string& tenant = "") {
  const Result<ExplainReply> reply = q.door().explain({.id = {}, .tenant = tenant, .next = n});
  REQUIRE(reply.ok());
  return reply->next;
}

}  // namespace

TEST_CASE("what waits for its turn only has a place") {
  ON_EVERY_ENGINE(q);
  const MessageId a1 = q.push("a", "1"), a2 = q.push("a", "2"), b1 = q.push("b", "3");
  CHECK(why(q, a1) == "ready, place 1, behind 0");
  CHECK(why(q, b1) == "ready, place 2, behind 0");
  CHECK(why(q, a2) == "ready, place 3, behind 1");
}

TEST_CASE("each thing that is in the way is told, and none of them alone is enough") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("acme/a", "x");
  q.set("acme", PolicyKey::paused, 1);
  CHECK(why(q, id) == "ready, behind 0, paused 'acme'");
  q.set("acme/a", PolicyKey::concurrency, 1);
  q.set("", PolicyKey::paused, 1);
  CHECK(why(q, id) == "ready, behind 0, paused '', paused 'acme'");
  REQUIRE(q.door().policy_set("acme", {.set = {}, .unset = {PolicyKey::paused}}).ok());
  REQUIRE(q.door().policy_set("", {.set = {}, .unset = {PolicyKey::paused}}).ok());
  const Delivery d = q.lease();
  const MessageId behind = q.push("acme/a", "y");
  CHECK(why(q, behind) == "ready, behind 0, concurrency 'acme/a' 1 of 1");
  CHECK(why(q, d.id).starts_with("leased, leased ''"));
  q.ack(d);
  CHECK(why(q, behind) == "ready, place 1, behind 0");
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
  NewMessage held{.tenant = "b"};
  held.after = {delayed};
  const MessageId id = q.door().push({&held, 1}).value().items.at(0).id;
  CHECK(why(q, id) == "held, held ''");
}

TEST_CASE("a tenant that has only what is delayed, or held, is explained") {
  ON_EVERY_ENGINE(q);
  if (engine_name(fq_engine) == "model") return;  // which explains no tenants
  const MessageId delayed = q.push("late", "1", {.delay_ms = 5'000});
  NewMessage held{.tenant = "behind"};
  held.after = {delayed};
  REQUIRE(q.door().push({&held, 1}).ok());
  for (const char* tenant : {"late", "behind"}) {
    CAPTURE(tenant);
    CHECK(q.door().explain({.id = {}, .tenant = tenant}).value().subject.has_value());
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
  for (const char* tenant : {"a", "b/x", "b/y", "c"}) q.push_many(tenant, 5);
  q.set("a", PolicyKey::weight, 3'000);
  const std::vector<Explanation> told = next(q, 20);
  REQUIRE(told.size() == 20);
  for (const Explanation& one : told) {
    const Delivery d = q.lease();
    CHECK(d.id == one.id);
    CHECK(d.tenant == one.tenant);
    q.ack(d);
  }
}

}  // namespace fq::test
