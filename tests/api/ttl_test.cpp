// ttl_test - a time to live: from when a message is due, until its first start, never longer.
#include "tests/api/contract.h"

namespace fq::test {

TEST_CASE("a message that is not started in time is dead, expired and not buried") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "late", {.ttl_ms = 1'000});
  q.push("t", "plain");
  CHECK(q.get(id).expires_at_wall_ms == q.clock().wall_ms() + 1'000);
  q.clock().advance(999);
  CHECK(q.get(id).state == State::ready);
  q.clock().advance(1);
  CHECK(q.get(id).state == State::dead);
  CHECK_FALSE(q.get(id).expires_at_wall_ms);
  CHECK(q.stats().expired == 1);
  CHECK(q.stats().buried == 0);
  CHECK(q.stats("t").expired == 1);
  CHECK(q.events(id) == "pushed expired");
  CHECK(q.pop(2) == "plain");
}

TEST_CASE("a time to live counts from when the message is due") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "later", {.delay_ms = 5'000, .ttl_ms = 1'000});
  CHECK(q.get(id).expires_at_wall_ms == q.clock().wall_ms() + 6'000);
  q.clock().advance(5'500);
  CHECK(q.get(id).state == State::ready);
  q.clock().advance(500);
  CHECK(q.get(id).state == State::dead);
  // Both are over when somebody looks.
  const MessageId other = q.push("t", "other", {.delay_ms = 5'000, .ttl_ms = 1'000});
  q.clock().advance(60'000);
  CHECK(q.get(other).state == State::dead);
}

TEST_CASE("once started a message has no time to live") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "m", {.ttl_ms = 1'000});
  const Delivery first = q.lease();
  q.clock().advance(2'000);
  CHECK(q.get(id).state == State::leased);
  CHECK(q.release(first) == SettleStatus::ok);
  q.clock().advance(2'000);
  CHECK(q.get(id).state == State::ready);
  CHECK_FALSE(q.get(id).expires_at_wall_ms);
  CHECK(q.pop() == "m");
}

TEST_CASE("a kick takes the time to live away") {
  ON_EVERY_ENGINE(q);
  const MessageId expired = q.push("t", "expired", {.ttl_ms = 1'000});
  const MessageId delayed = q.push("t", "delayed", {.delay_ms = 5'000, .ttl_ms = 1'000});
  q.clock().advance(1'000);
  CHECK(q.mutate({expired, delayed}, Action::kick).changed == 2);
  q.clock().advance(60'000);
  CHECK(q.pop(3) == "expired delayed");
}

TEST_CASE("a time to live is told as it was given, also once it holds no more, until a kick takes it away") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "m", {.ttl_ms = 1'000});
  CHECK(q.get(id).ttl_ms == 1'000);
  const Delivery first = q.lease();
  CHECK(q.get(id).ttl_ms == 1'000);
  q.retry(first, 5'000);
  CHECK(q.get(id).ttl_ms == 1'000);
  CHECK_FALSE(q.get(id).expires_at_wall_ms);
  MessagePatch patch;
  patch.attempts_max.emplace(9);
  REQUIRE(q.door().edit(id, patch).value() == SettleStatus::ok);
  CHECK(q.get(id).ttl_ms == 1'000);
  patch = {};
  patch.ttl_ms.emplace(2'000);
  REQUIRE(q.door().edit(id, patch).value() == SettleStatus::ok);
  CHECK(q.get(id).ttl_ms == 2'000);
  q.clock().advance(60'000);
  CHECK(q.get(id).state == State::ready);
  q.bury(q.lease());
  CHECK(q.get(id).ttl_ms == 2'000);
  q.mutate({id}, Action::kick);
  CHECK_FALSE(q.get(id).ttl_ms);
  patch = {};
  patch.priority = 1;
  REQUIRE(q.door().edit(id, patch).value() == SettleStatus::ok);
  CHECK_FALSE(q.get(id).ttl_ms);
  q.lease();
  CHECK_FALSE(q.get(id).ttl_ms);
  const MessageId late = q.push("t", "late", {.ttl_ms = 1'000});
  q.clock().advance(1'000);
  CHECK(q.get(late).ttl_ms == 1'000);
  q.mutate({late}, Action::kick);
  CHECK_FALSE(q.get(late).ttl_ms);
}

TEST_CASE("a time to live keeps order and priorities as they are") {
  ON_EVERY_ENGINE(q);
  q.push("t", "1", {.ttl_ms = 9'000});
  q.push("t", "2");
  q.push("t", "3", {.priority = 5, .ttl_ms = 9'000});
  q.push("t", "4", {.ttl_ms = 9'000});
  CHECK(q.peek() == "3 1 2 4");
  CHECK(q.pop(4) == "3 1 2 4");
}

TEST_CASE("thousands that expire at once hide nothing that can be served") {
  ON_EVERY_ENGINE(q);
  std::vector<NewMessage> many(kBatchMessagesMax);
  for (NewMessage& each : many) each = message_of("t", "x", {.ttl_ms = 1'000});
  for (int i = 0; i < 2; ++i) REQUIRE(q.door().push(many).ok());
  q.push("t", "last");
  q.clock().advance(1'000);
  CHECK(q.pop() == "last");
  CHECK(q.stats().expired == 2 * kBatchMessagesMax);
}

TEST_CASE("a time to live of nothing is refused") {
  ON_EVERY_ENGINE(q);
  CHECK(q.refuses("t", "x", {.ttl_ms = 0}));
  CHECK(q.refuses("t", "x", {.ttl_ms = -1}));
}

}  // namespace fq::test
