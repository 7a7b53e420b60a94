// after_test - who is held stays so after the loss of the segment and of old files, and is let go by whoever
// comes next.

// Tests.
#include "tests/local/fixture.h"

namespace fq::test {

namespace {

uint64_t push_after(SpoolFixture& q, const std::string& payload, std::vector<MessageId> after,
                    std::vector<MessageId> after_any = {}, std::optional<int64_t> delay_ms = {}) {
  NewMessage message{.tenant = "t", .payload = as_bytes(payload)};
  message.delay_ms = delay_ms;
  message.after = std::move(after);
  message.after_any = std::move(after_any);
  const Result<PushReply> reply = q.door().push({&message, 1});
  INFO((reply.ok() ? std::string() : reply.error().text));
  REQUIRE(reply.ok());
  return number(reply->items.at(0).id);
}

}  // namespace

TEST_CASE("who is held stays so when the segment is lost, and is let go after it") {
  SpoolFixture q;
  const MessageId a{q.push("a")}, b{q.push("b")};
  const uint64_t both = push_after(q, "both", {a, b});
  const uint64_t any = push_after(q, "any", {}, {b});
  CHECK(q.ack(q.lease()) == SettleStatus::ok);
  q.lose_segment();
  q.check_clean();
  CHECK(q.get(both).state == State::held);
  CHECK(q.get(both).after == std::vector<MessageId>{a, b});
  const Delivery last = q.lease();
  CHECK(q.settle(q.door(), {.receipt = last.receipt, .verdict = Verdict::bury}) == SettleStatus::ok);
  q.check_clean();
  q.lose_segment();
  CHECK(q.get(both).state == State::dead);
  CHECK(q.get(any).state == State::ready);
  CHECK(q.history(both) == "pushed buried");
  CHECK(q.history(any) == "pushed freed");
  q.check_clean();
}

TEST_CASE("who is held is carried forward, and still waits for what it waited for") {
  SpoolFixture q;
  const MessageId a{q.push("a")}, b{q.push("b")}, c{q.push("c")};
  const uint64_t held = push_after(q, "held", {a, b});
  const uint64_t dead = push_after(q, "dead", {c});
  CHECK(q.ack(q.lease()) == SettleStatus::ok);
  const Delivery second = q.lease(36'000'000);
  const Delivery third = q.lease();
  CHECK(q.settle(q.door(), {.receipt = third.receipt, .verdict = Verdict::bury}) == SettleStatus::ok);
  CHECK(q.get(dead).state == State::dead);
  q.outlive_first_file();
  q.check_clean();
  q.lose_segment();
  q.check_clean();
  CHECK(q.get(held).state == State::held);
  REQUIRE(q.door().mutate(std::vector<MessageId>{c, MessageId{dead}}, Action::kick)->changed == 2);
  CHECK(q.get(dead).state == State::held);
  q.check_clean();
  CHECK(q.ack(second) == SettleStatus::ok);
  CHECK(q.drain() == "c held dead");
  q.check_clean();
}

TEST_CASE("a step of the wall clock moves no delay of who is held, edited or carried forward") {
  constexpr int64_t kHourMs = 3'600'000;
  SpoolFixture q;
  const MessageId first{q.push("first")};
  const uint64_t held = push_after(q, "held", {first}, {}, 5 * kHourMs);
  const int64_t step_ms = GENERATE(6 * kHourMs, -6 * kHourMs);
  q.clock.set_wall_ms(q.clock.wall_ms() + step_ms);
  q.reopen();
  const bool is_edited = GENERATE(true, false);
  if (is_edited) {
    MessagePatch patch;
    patch.priority = 5;
    REQUIRE(q.door().edit(MessageId{held}, patch).value() == SettleStatus::ok);
  } else {
    q.outlive_first_file();
    q.lose_segment();
  }
  CHECK(q.ack(q.lease()) == SettleStatus::ok);
  CHECK(q.get(held).state == State::delayed);
  q.clock.advance(5 * kHourMs - 60'000);
  CHECK(q.get(held).state == State::delayed);
  q.clock.advance(60'000);
  CHECK(q.get(held).state == State::ready);
  q.check_clean();
}

TEST_CASE("a message that is held again waits for none whose end is forgotten") {
  SpoolFixture q;
  const bool acked = GENERATE(true, false);
  const MessageId a{q.push("a")}, b{q.push("b")};
  const uint64_t last = push_after(q, "last", {a, b});
  const Delivery first = q.lease();
  const Delivery second = q.lease(36'000'000);
  if (acked) CHECK(q.ack(first) == SettleStatus::ok);
  CHECK(q.settle(q.door(), {.receipt = second.receipt, .verdict = Verdict::bury}) == SettleStatus::ok);
  if (!acked) CHECK(q.door().mutate({&a, 1}, Action::cancel)->changed == 1);
  CHECK(q.get(last).state == State::dead);
  q.forget_outcomes();
  REQUIRE_FALSE(q.door().get(a).value());
  const bool carried = GENERATE(false, true);
  if (carried) {
    q.outlive_first_file();
    q.lose_segment();
  }
  CHECK(q.door().mutate({&b, 1}, Action::kick)->changed == 1);
  CHECK(q.get(last).state == (acked ? State::held : State::dead));
  const MessageId itself{last};
  CHECK(q.door().mutate({&itself, 1}, Action::kick)->changed == (acked ? 0 : 1));
  q.check_clean();
  CHECK(q.get(last).state == State::held);
  CHECK(q.drain() == "b last");
  q.check_clean();
}

TEST_CASE("that one was cancelled which a message came after is carried forward with that message") {
  SpoolFixture q;
  const MessageId a{q.push("a")}, b{q.push("b")};
  const uint64_t last = push_after(q, "last", {a, b});
  CHECK(q.door().mutate({&a, 1}, Action::cancel)->changed == 1);
  const MessageId itself{last};
  CHECK(q.door().mutate({&itself, 1}, Action::kick)->changed == 1);
  CHECK(q.get(last).state == State::held);  // for b alone
  q.outlive_first_file();
  q.lose_segment();
  CHECK(q.get(last).state == State::held);
  const Delivery second = q.lease();
  CHECK(q.settle(q.door(), {.receipt = second.receipt, .verdict = Verdict::bury}) == SettleStatus::ok);
  CHECK(q.door().mutate({&b, 1}, Action::kick)->changed == 1);
  CHECK(q.get(last).state == State::dead);
  q.check_clean();
  CHECK(q.drain() == "b");
}

TEST_CASE("what ended in a file that was given back lets go all the same") {
  SpoolFixture q;
  const MessageId a{q.push("a")};
  const Delivery first = q.lease(36'000'000);
  const uint64_t held = push_after(q, "held", {a});
  CHECK(q.ack(first) == SettleStatus::ok);
  q.outlive_first_file();
  q.lose_segment();
  CHECK(q.get(held).state == State::ready);
  q.check_clean();
  CHECK(q.drain() == "held");
}

TEST_CASE("a replaced or held message behind a running one outlives the segment") {
  SpoolFixture q;
  const auto push = [&](const std::string& payload) {
    NewMessage message{.tenant = "t", .payload = as_bytes(payload)};
    message.unique = "k";
    message.unique_mode = UniqueMode::replace;
    return q.door().push({&message, 1}).value().items.at(0);
  };
  push("running");
  const Delivery running = q.lease(36'000'000);
  const MessageId behind = push("1").id;
  for (int i = 0; i < 2; ++i) {
    CHECK(push("2").id == behind);
    q.check_clean();
    q.lose_segment();
    q.check_clean();
  }
  q.outlive_first_file();
  q.check_clean();
  q.lose_segment();
  q.check_clean();
  CHECK(push("3").id == behind);
  CHECK(q.ack(running) == SettleStatus::ok);
  CHECK(push("4").id == behind);
  q.check_clean();
  CHECK(q.drain() == "4");
}

TEST_CASE("ten thousand that come after one are let go without one long hold of the lock") {
  SpoolFixture q;
  const MessageId first{q.push("first")};
  std::vector<NewMessage> batch(1'000, NewMessage{.tenant = "t", .payload = as_bytes("x")});
  for (NewMessage& each : batch) each.after = {first};
  for (int i = 0; i < 10; ++i) REQUIRE(q.door().push(batch, {.durability = Durability::lazy}).ok());
  CHECK(q.stats().held == 10'000);
  CHECK(q.ack(q.lease()) == SettleStatus::ok);
  CHECK(q.stats().ready == 10'000);
  q.check_clean();
}

}  // namespace fq::test
