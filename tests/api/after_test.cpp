// after_test - messages that are held: after others, and behind a running one with the same key.
#include "tests/api/contract.h"

namespace fq::test {

namespace {

Result<PushReply> try_after(QueueFixture& q, const std::string& payload, std::vector<MessageId> after,
                            std::vector<MessageId> after_any = {}, const With& with = {}) {
  NewMessage message = message_of(q.path("t"), payload, with);
  message.after = std::move(after);
  message.after_any = std::move(after_any);
  return q.door().push({&message, 1});
}

MessageId push_after(QueueFixture& q, const std::string& payload, std::vector<MessageId> after,
                     std::vector<MessageId> after_any = {}, const With& with = {}) {
  const Result<PushReply> reply = try_after(q, payload, std::move(after), std::move(after_any), with);
  if (!reply.ok()) FAIL(reply.error().text);
  return reply->items.at(0).id;
}

PushResult put(QueueFixture& q, const std::string& payload, UniqueMode mode) {
  NewMessage message = message_of("t", payload, {});
  message.unique = "k";
  message.unique_mode = mode;
  return q.door().push({&message, 1}).value().items.at(0);
}

State state_now(QueueFixture& q, MessageId id) { return q.get(id).state; }

}  // namespace

TEST_CASE("a message is held until all that it came after are acked") {
  ON_EVERY_ENGINE(q);
  const MessageId a = q.push("t", "a");
  const MessageId b = q.push("t", "b");
  const MessageId last = push_after(q, "last", {a, b});
  CHECK(state_now(q, last) == State::held);
  CHECK(q.get(last).after == std::vector<MessageId>{a, b});
  CHECK(q.stats().held == 1);
  CHECK(q.pop() == "a");
  const Delivery second = q.lease();
  CHECK(q.retry(second) == SettleStatus::ok);
  CHECK(state_now(q, last) == State::held);
  CHECK(q.pop() == "b");
  CHECK(state_now(q, last) == State::ready);
  CHECK(q.events(last) == "pushed freed");
  CHECK(q.pop() == "last");
}

TEST_CASE("what comes after a message that dies or is cancelled is buried, and so what comes after that") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  const MessageId a = q.push("t", "a");
  const MessageId b = push_after(q, "b", {a});
  const MessageId c = push_after(q, "c", {b});
  const MessageId d = push_after(q, "d", {}, {b});
  CHECK(q.bury(q.lease()) == SettleStatus::ok);
  CHECK(state_now(q, b) == State::dead);
  CHECK(state_now(q, c) == State::dead);
  CHECK(state_now(q, d) == State::ready);
  const MessageId e = q.push("u", "e");
  const MessageId f = push_after(q, "f", {e});
  CHECK(q.mutate({e}, Action::cancel).changed == 1);
  CHECK(state_now(q, f) == State::dead);
  CHECK(q.pop(9) == "d");
}

TEST_CASE("what ended before counts as it ended") {
  ON_EVERY_ENGINE(q);
  const MessageId acked = q.push("t", "acked");
  q.pop();
  const MessageId dead = q.push("t", "dead");
  CHECK(q.bury(q.lease()) == SettleStatus::ok);
  CHECK(state_now(q, push_after(q, "1", {acked})) == State::ready);
  CHECK(state_now(q, push_after(q, "2", {acked, dead})) == State::dead);
  CHECK(state_now(q, push_after(q, "3", {acked}, {dead})) == State::ready);
  CHECK(q.pop(9) == "1 3");
}

TEST_CASE("an expired message is dead for those that came after it") {
  ON_EVERY_ENGINE(q);
  const MessageId brief = q.push("t", "brief", {.ttl_ms = 1'000});
  const MessageId after = push_after(q, "after", {brief});
  const MessageId any = push_after(q, "any", {}, {brief});
  q.clock().advance(1'000);
  CHECK(state_now(q, after) == State::dead);
  CHECK(state_now(q, any) == State::ready);
}

TEST_CASE("a message that expires once it is free has an end behind its release") {
  ON_EVERY_ENGINE(q);
  const MessageId first = q.push("t", "first");
  const MessageId then = push_after(q, "then", {first}, {}, {.ttl_ms = 1'000});
  q.clock().advance(100);
  CHECK(q.pop() == "first");
  q.clock().advance(1'000);
  CHECK(state_now(q, then) == State::dead);
  CHECK(q.events(then) == "pushed freed expired");
}

TEST_CASE("a kick holds a message again while what it came after is unfinished again") {
  ON_EVERY_ENGINE(q);
  const MessageId a = q.push("t", "a");
  const MessageId b = push_after(q, "b", {a});
  CHECK(q.bury(q.lease()) == SettleStatus::ok);
  CHECK(q.mutate({a}, Action::kick).changed == 1);
  CHECK(state_now(q, b) == State::held);
  CHECK(q.mutate({b}, Action::kick).changed == 0);
  CHECK(q.pop() == "a");
  CHECK(q.pop() == "b");
}

TEST_CASE("a kick holds again what died with it, and what died with that") {
  ON_EVERY_ENGINE(q);
  const MessageId a = q.push("t", "a");
  const MessageId b = push_after(q, "b", {a});
  const MessageId c = push_after(q, "c", {b});
  const MessageId any = push_after(q, "any", {}, {a});
  CHECK(q.bury(q.lease()) == SettleStatus::ok);
  CHECK(state_now(q, c) == State::dead);
  CHECK(q.pop() == "any");
  CHECK(q.mutate({a}, Action::kick).changed == 1);
  CHECK(state_now(q, b) == State::held);
  CHECK(state_now(q, c) == State::held);
  CHECK(state_now(q, any) == State::acked);
  CHECK(q.pop(9) == "a b c");
}

TEST_CASE("what came after another that is dead as well stays dead until that is kicked too") {
  ON_EVERY_ENGINE(q);
  const MessageId a = q.push("t", "a");
  const MessageId b = q.push("t", "b");
  const MessageId both = push_after(q, "both", {a, b});
  const MessageId gone = push_after(q, "gone", {a, b});
  CHECK(q.bury(q.lease()) == SettleStatus::ok);
  CHECK(q.bury(q.lease()) == SettleStatus::ok);
  for (int round = 0; round < 2; ++round) {
    CHECK(q.mutate({a}, Action::kick).changed == 1);
    CHECK(state_now(q, both) == State::dead);
    CHECK(q.bury(q.lease()) == SettleStatus::ok);
    CHECK(q.mutate({b}, Action::kick).changed == 1);
    CHECK(state_now(q, both) == State::dead);
    if (round == 0) CHECK(q.bury(q.lease()) == SettleStatus::ok);
  }
  CHECK(q.mutate({gone}, Action::cancel).changed == 1);
  CHECK(q.mutate({a}, Action::kick).changed == 1);
  CHECK(state_now(q, both) == State::held);
  CHECK(state_now(q, gone) == State::cancelled);
  CHECK(q.pop(9) == "a b both");
}

TEST_CASE("a thousand that died with one message are held behind it again by its kick") {
  ON_EVERY_ENGINE(q);
  const MessageId first = q.push("t", "first");
  std::vector<NewMessage> batch(1000, message_of("t", "x", {}));
  for (NewMessage& each : batch) each.after = {first};
  REQUIRE(q.door().push(batch).ok());
  CHECK(q.bury(q.lease()) == SettleStatus::ok);
  CHECK(q.stats().dead == 1001);
  CHECK(q.mutate({first}, Action::kick).changed == 1);
  CHECK(q.stats().held == 1000);
  CHECK(q.stats().dead == 0);
  CHECK(q.door().check()->findings.lines.empty());
  CHECK(q.pop() == "first");
  CHECK(q.stats().ready == 1000);
}

TEST_CASE("a kick of what came after a dead message brings it back") {
  ON_EVERY_ENGINE(q);
  const MessageId a = q.push("t", "a");
  const MessageId b = push_after(q, "b", {a});
  CHECK(q.bury(q.lease()) == SettleStatus::ok);
  CHECK(q.mutate({b}, Action::kick).changed == 1);
  CHECK(q.pop(2) == "b");
}

TEST_CASE("each that a filter found counts, though another one of them brings it back or ends it as well") {
  ON_EVERY_ENGINE(q);
  std::vector<MessageId> ids = {q.push("t", "0", {.attempts_max = 1})};
  for (int i = 0; i < 2; ++i) {
    NewMessage next{.tenant = "t"};
    next.after = {ids.back()};
    ids.push_back(q.door().push({&next, 1}).value().items.at(0).id);
  }
  q.bury(q.lease());
  REQUIRE(q.stats().dead == 3);
  CHECK(q.mutate_all({.tenant = {}, .state = State::dead, .tag = {}}, Action::kick, 100) == 3);
  CHECK(q.stats().ready == 1);
  CHECK(q.stats().held == 2);
  q.bury(q.lease());
  CHECK(q.mutate(ids, Action::kick).changed == 3);
  CHECK(q.mutate_all({.tenant = {}, .state = State::held, .tag = {}}, Action::cancel, 100) == 2);
}

TEST_CASE("who was buried while held and is kicked waits behind those that have waited meanwhile") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  const MessageId first = q.push("t", "first");
  const MessageId second = q.push("t", "second");
  const auto push_of = [&](const char* tenant, std::vector<MessageId> after) {
    NewMessage message = message_of(q.path(tenant), tenant, {});
    message.after = std::move(after);
    message.after_any = {second};
    return q.door().push({&message, 1}).value().items.at(0).id;
  };
  const MessageId kicked = push_of("kicked", {first});
  push_of("patient", {});
  const Delivery dies = q.lease();
  CHECK(q.bury(dies) == SettleStatus::ok);
  CHECK(state_now(q, kicked) == State::dead);
  CHECK(q.mutate({kicked}, Action::kick).changed == 1);
  CHECK(state_now(q, kicked) == State::held);
  CHECK(q.pop() == "second");
  CHECK(q.pop(9) == "patient kicked");
}

TEST_CASE("delay and time to live of a held message begin when it is let go") {
  ON_EVERY_ENGINE(q);
  const MessageId a = q.push("t", "a");
  const MessageId delayed = push_after(q, "delayed", {a}, {}, {.delay_ms = 5'000});
  const MessageId brief = push_after(q, "brief", {a}, {}, {.ttl_ms = 1'000});
  q.clock().advance(2'000);
  CHECK(q.pop() == "a");
  CHECK(state_now(q, delayed) == State::delayed);
  CHECK(q.get(brief).expires_at_wall_ms == q.clock().wall_ms() + 1'000);
  q.clock().advance(3'000);
  CHECK(state_now(q, delayed) == State::ready);
  CHECK(state_now(q, brief) == State::dead);
}

TEST_CASE("a thousand that came after one message are let go by its ack") {
  ON_EVERY_ENGINE(q);
  const MessageId first = q.push("t", "first");
  std::vector<NewMessage> batch(kBatchMessagesMax, message_of("t", "x", {}));
  for (NewMessage& each : batch) each.after = {first};
  REQUIRE(q.door().push(batch).ok());
  CHECK(q.stats().held == kBatchMessagesMax);
  CHECK(q.pop() == "first");
  CHECK(q.stats().ready == kBatchMessagesMax);
}

TEST_CASE("a held message can be cancelled, and one may come after as many as there may be") {
  ON_EVERY_ENGINE(q);
  std::vector<MessageId> ids;
  for (size_t i = 0; i < kAfterMax; ++i) ids.push_back(q.push("t", "x"));
  const MessageId last = push_after(q, "last", ids);
  const MessageId gone = push_after(q, "gone", ids);
  CHECK(q.mutate({gone}, Action::cancel).changed == 1);
  for (size_t i = 0; i < kAfterMax; ++i) {
    CHECK(state_now(q, last) == State::held);
    CHECK(q.pop() == "x");
  }
  CHECK(q.pop() == "last");
  ids.push_back(last);
  const Result<PushReply> more = try_after(q, "x", ids);
  CHECK((!more.ok() || more->items.at(0).status == PushStatus::invalid));
}

TEST_CASE("an id that is not known is refused, and nothing is pushed") {
  ON_EVERY_ENGINE(q);
  const MessageId a = q.push("t", "a");
  for (const uint64_t id : {uint64_t{0}, number(a) + 1, kMessageIdMax}) {
    CHECK_FALSE(try_after(q, "x", {a, MessageId{id}}).ok());
    CHECK_FALSE(try_after(q, "x", {}, {MessageId{id}}).ok());
  }
  // Also one that no shard gives: it lies nowhere.
  for (const char* account : {"t", "u", "v", "w", "x"}) {
    NewMessage message{.tenant = account};
    message.after = {MessageId{kMessageIdMax}};
    const Result<PushReply> reply = q.door().push({&message, 1});
    REQUIRE_FALSE(reply.ok());
    CHECK(reply.error().kind == ErrorKind::missing);
  }
  CHECK(q.stats().pushed == 1);
}

TEST_CASE("one may come after another of its account, and of any, or that is refused by name") {
  ON_EVERY_ENGINE(q);
  const MessageId own = q.push("t/below", "x");
  CHECK(state_now(q, push_after(q, "then", {own}, {own})) == State::held);
  uint64_t pushed = 2, refused = 0;
  for (char account = 'a'; account < 't'; ++account) {
    const MessageId other = q.push(std::string(1, account), "x");
    ++pushed;
    for (const bool any : {false, true}) {
      const std::vector<MessageId> none, one = {other};
      const Result<PushReply> reply = try_after(q, "y", any ? none : one, any ? one : none);
      ++(reply.ok() ? pushed : refused);
      if (reply.ok()) continue;
      CHECK(reply.error().kind == ErrorKind::usage);
      CHECK(reply.error().text ==
            "after: message " + std::to_string(number(other)) +
                " lies on another shard; in this queue a message comes after others of its own account");
    }
  }
  CHECK(q.stats().pushed == pushed);
  CHECK((refused == 0) == q.door().caps().ties_between_accounts);
}

TEST_CASE("of a batch the refusal names the one that comes after what is not known") {
  ON_EVERY_ENGINE(q);
  const MessageId a = q.push("t", "a");
  for (const char* const tenant : {"t", "u", "v", "w", "x"}) {
    std::vector<NewMessage> batch;
    for (const char* const each : {"t", "u", "v", "w", "x"}) batch.push_back(message_of(each, "y", {}));
    for (const auto after : {&NewMessage::after, &NewMessage::after_any}) {
      std::vector<NewMessage> some = batch;
      some.push_back(message_of(tenant, "x", {}));
      some[5].*after = {MessageId{number(a) + 1000}};
      some.push_back(message_of("t", "z", {}));
      const Result<PushReply> reply = q.door().push(some);
      REQUIRE_FALSE(reply.ok());
      CHECK(reply.error().item == 5u);
    }
  }
  CHECK(q.stats().pushed == 1);
}

TEST_CASE("unique-mode replace gives a waiting message the new payload in its place") {
  ON_EVERY_ENGINE(q);
  const PushResult first = put(q, "old", UniqueMode::replace);
  q.push("t", "other");
  const PushResult second = put(q, "new", UniqueMode::replace);
  CHECK(second.status == PushStatus::replaced);
  CHECK(second.id == first.id);
  CHECK(q.events(first.id) == "pushed replaced");
  CHECK(q.pop(3) == "new other");
  // It has ended: it does not count.
  CHECK(put(q, "next", UniqueMode::replace).status == PushStatus::accepted);
}

TEST_CASE("unique-mode after leaves a waiting message as it is") {
  ON_EVERY_ENGINE(q);
  const PushResult first = put(q, "old", UniqueMode::after);
  const PushResult second = put(q, "new", UniqueMode::after);
  CHECK(second.status == PushStatus::duplicate);
  CHECK(second.id == first.id);
  CHECK(q.pop(2) == "old");
  CHECK(put(q, "next", UniqueMode::after).status == PushStatus::accepted);
}

TEST_CASE("behind a running message one more with its key is held, with the last payload") {
  ON_EVERY_ENGINE(q);
  for (const UniqueMode mode : {UniqueMode::replace, UniqueMode::after}) {
    const PushResult running = put(q, "running", mode);
    const Delivery delivery = q.lease();
    const PushResult behind = put(q, "1", mode);
    CHECK(behind.status == PushStatus::accepted);
    CHECK(state_now(q, behind.id) == State::held);
    CHECK(q.get(behind.id).after.empty());
    const PushResult again = put(q, "2", mode);
    CHECK(again.status == PushStatus::replaced);
    CHECK(again.id == behind.id);
    CHECK(put(q, "x", UniqueMode::keep).id == running.id);
    CHECK(q.ack(delivery) == SettleStatus::ok);
    CHECK(put(q, "x", UniqueMode::keep).id == behind.id);
    CHECK(q.pop(2) == "2");
  }
}

TEST_CASE("one that comes after the very message whose key it has is held behind that all the same") {
  ON_EVERY_ENGINE(q);
  const PushResult running = put(q, "running", UniqueMode::after);
  const Delivery delivery = q.lease();
  NewMessage message = message_of("t", "1", {});
  message.unique = "k";
  message.unique_mode = UniqueMode::after;
  message.after = {running.id};
  const MessageId behind = q.door().push({&message, 1}).value().items.at(0).id;
  CHECK(put(q, "x", UniqueMode::keep).id == running.id);
  CHECK(put(q, "2", UniqueMode::replace).id == behind);
  CHECK(q.ack(delivery) == SettleStatus::ok);
  CHECK(q.pop(2) == "2");
}

TEST_CASE("what is held behind a running message waits until that has ended, retries included") {
  ON_EVERY_ENGINE(q);
  put(q, "running", UniqueMode::after);
  const Delivery first = q.lease();
  const PushResult behind = put(q, "behind", UniqueMode::after);
  CHECK(q.retry(first) == SettleStatus::ok);
  CHECK(state_now(q, behind.id) == State::held);
  CHECK(put(q, "last", UniqueMode::after).id == behind.id);
  CHECK(q.bury(q.lease()) == SettleStatus::ok);
  CHECK(state_now(q, behind.id) == State::ready);
  CHECK(q.pop(2) == "last");
}

}  // namespace fq::test
