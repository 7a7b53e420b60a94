// kick_test - what is dead or delayed begins anew, by id and by filter.
#include "tests/api/contract.h"

namespace fq::test {

TEST_CASE("kick brings a dead letter back with new attempts") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "x", {.attempts_max = 1});
  q.retry(q.lease());
  const MutateReply reply = q.mutate({id}, Action::kick);
  CHECK(reply.changed == 1);
  CHECK(reply.items.at(0) == SettleStatus::ok);
  const Delivery d = q.lease();
  CHECK(d.attempt == 1);
  CHECK(d.delivery == 2);
}

TEST_CASE("a kick forgets why a message has failed, in whatever state it finds it") {
  ON_EVERY_ENGINE(q);
  const MessageId dead = q.push("t", "dead");
  q.bury(q.lease(), "no good");
  const MessageId retried = q.push("t", "retried");
  q.retry(q.lease(), 60'000, "no luck");
  const MessageId expired = q.push("t", "expired", {.ttl_ms = 1});
  q.clock().advance(1);
  for (const MessageId id : {dead, retried, expired}) CHECK(q.get(id).last_error);
  CHECK(q.mutate({dead, retried, expired}, Action::kick).changed == 3);
  for (const MessageId id : {dead, retried, expired}) CHECK_FALSE(q.get(id).last_error);
  CHECK(q.events(retried).ends_with("retried kicked"));
  // What fails then is told as ever.
  q.bury(q.lease(), "still no good");
  REQUIRE(q.get(dead).last_error);
  CHECK(q.get(dead).last_error->reason == "still no good");
}

TEST_CASE("what a kick holds again is not told to have failed because of what it came after") {
  ON_EVERY_ENGINE(q);
  const MessageId first = q.push("t", "first");
  NewMessage then = message_of("t", "then", {});
  then.after = {first};
  const MessageId second = q.door().push({&then, 1})->items.at(0).id;
  q.bury(q.lease(), "no good");
  REQUIRE(q.get(second).state == State::dead);
  q.mutate({first}, Action::kick);
  CHECK(q.get(second).state == State::held);
  CHECK_FALSE(q.get(second).last_error);
}

TEST_CASE("kick by id also takes a delayed message, but no other") {
  ON_EVERY_ENGINE(q);
  const MessageId delayed = q.push("t", "delayed", {.delay_ms = 60'000});
  const MessageId ready = q.push("t", "ready");
  const MutateReply reply = q.mutate({delayed, ready}, Action::kick);
  CHECK(reply.changed == 1);
  CHECK(reply.items.at(0) == SettleStatus::ok);
  CHECK(reply.items.at(1) == SettleStatus::stale);
  CHECK(q.pop(2) == "delayed ready");
}

TEST_CASE("kick by filter goes page by page to the end") {
  ON_EVERY_ENGINE(q);
  q.push_many("a", 3);
  q.push_many("b", 2);
  for (int i = 0; i < 5; ++i) q.bury(q.lease());
  CHECK(q.mutate_all({.tenant = "a", .state = State::dead, .tag = {}}, Action::kick) == 3);
  CHECK(q.pop(10) == "a1 a2 a3");
  CHECK(q.mutate_all({.tenant = {}, .state = State::dead, .tag = {}}, Action::kick) == 2);
  CHECK(q.mutate_all({.tenant = {}, .state = State::dead, .tag = {}}, Action::kick) == 0);
}

}  // namespace fq::test
