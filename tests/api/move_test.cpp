// Moves to another queue. (More of them: tests/cli/move_test.sh.)
#include "tests/api/contract.h"

// System.
#include <algorithm>

using namespace fq;
using namespace fq::test;

namespace {

MoveReply move(Queue& queue, const std::vector<MessageId>& ids, const std::string& tenant = {}) {
  Result<MoveReply> moved = queue.move(ids, {"other", tenant});
  INFO((moved.ok() ? std::string() : moved.error().text));
  REQUIRE(moved.ok());
  return std::move(moved).value();
}

MessageInfo info_of(Queue& queue, MessageId id) {
  Result<std::optional<MessageInfo>> info = queue.get(id);
  REQUIRE(info.ok());
  REQUIRE(*info);
  return **std::move(info);
}

std::string all_of(Queue& queue, size_t count) {
  std::string payloads;
  for (size_t i = 0; i < count; ++i) {
    Result<LeaseReply> leased = queue.lease(timed_lease());
    REQUIRE(leased.ok());
    if (leased->deliveries.empty()) return payloads;
    payloads += (payloads.empty() ? "" : " ") + payload_of(leased->deliveries[0]);
    Settle ack;
    ack.receipt = leased->deliveries[0].receipt;
    REQUIRE(queue.settle({&ack, 1}, nullptr).ok());
  }
  return payloads;
}

}  // namespace

TEST_CASE("an engine moves messages between queues, or says that it does not") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "m");
  const Result<MoveReply> moved = q.door().move({&id, 1}, {"nowhere", ""});
  REQUIRE(!moved.ok());
  CHECK(moved.error().kind == (q.door().caps().moves ? ErrorKind::missing : ErrorKind::unusable));
  CHECK(q.peek() == "m");
}

TEST_CASE("what is moved is in the other queue what it was, and is told there only") {
  ON_EVERY_ENGINE(q);
  const std::unique_ptr<Queue> other = q.other_queue();
  if (!other) return;
  With with;
  with.priority = 3;
  with.delay_ms = 60'000;
  with.tags = {{"color", "red"}};
  with.ttl_ms = 120'000;
  with.attempts_max = 7;
  const MessageId id = q.push("acme/x", "late", with);
  const MessageInfo before = q.get(id);
  const MoveReply reply = move(q.door(), {id});
  REQUIRE(reply.items.at(0).what == MoveResult::What::moved);
  const MessageInfo after = info_of(*other, reply.items[0].id_there);
  CHECK(after.tenant == before.tenant);
  CHECK(after.state == State::delayed);
  CHECK(after.due_at_wall_ms == before.due_at_wall_ms);
  CHECK(after.priority == before.priority);
  CHECK(after.tags == before.tags);
  CHECK(after.ttl_ms == before.ttl_ms);
  CHECK(after.attempts_max == before.attempts_max);
  CHECK(after.pushed_at_wall_ms == before.pushed_at_wall_ms);
  CHECK(after.payload == before.payload);
  const MessageInfo here = q.get(id);
  CHECK(here.state == State::moved);
  CHECK(here.moved_to->queue == "other");
  CHECK(here.moved_to->id == reply.items[0].id_there);
  CHECK(move(q.door(), {id}).items.at(0).what == MoveResult::What::gone);
  q.clock().advance(60'000);
  CHECK(all_of(*other, 9) == "late");
  CHECK(q.served().empty());
}

TEST_CASE("what failed or is dead is moved with its attempts and why") {
  ON_EVERY_ENGINE(q);
  const std::unique_ptr<Queue> other = q.other_queue();
  if (!other) return;
  const MessageId failed = q.push("a", "failed");
  q.retry(q.lease(), 5'000, "no luck");
  const MessageId dead = q.push("b", "dead");
  q.bury(q.lease(), "no good");
  const MoveReply reply = move(q.door(), {failed, dead}, "new");
  const MessageInfo first = info_of(*other, reply.items.at(0).id_there);
  const MessageInfo second = info_of(*other, reply.items.at(1).id_there);
  CHECK((first.state == State::delayed && first.attempts == 1 && first.last_error->reason == "no luck"));
  CHECK((second.state == State::dead && second.last_error->reason == "no good"));
  CHECK((first.tenant == "new" && second.tenant == "new"));
  const MessageId there = second.id;
  REQUIRE(other->mutate({&there, 1}, Action::kick).ok());
  CHECK(all_of(*other, 1) == "dead");
}

TEST_CASE("a dead message tells where it is moved to of its last run: when, who, and how it ended") {
  ON_EVERY_ENGINE(q);
  const std::unique_ptr<Queue> other = q.other_queue();
  if (!other) return;
  const MessageId id = q.push("t", "m", {.ttl_ms = 9'000});
  LeaseRequest living;
  Settle end;
  end.receipt = q.lease_all(living).deliveries.at(0).receipt;
  end.verdict = Verdict::bury;
  end.exit = 9;
  q.clock().advance(1'000);
  REQUIRE(q.door().settle({&end, 1}).ok());
  const MessageInfo before = q.get(id);
  const MoveReply reply = move(q.door(), {id});
  const MessageInfo after = info_of(*other, reply.items.at(0).id_there);
  REQUIRE(before.worker_pid);
  CHECK(after.worker_pid == before.worker_pid);
  CHECK(after.started_at_wall_ms == before.started_at_wall_ms);
  CHECK(after.ended_at_wall_ms == before.ended_at_wall_ms);
  CHECK(after.exit == 9);
  CHECK(after.ttl_ms == 9'000);
}

TEST_CASE("a debounced message that was moved is replaced by no push there, and its key hinders none") {
  ON_EVERY_ENGINE(q);
  const std::unique_ptr<Queue> other = q.other_queue();
  if (!other) return;
  NewMessage message = message_of("t", "moved", {});
  message.debounce = "k";
  message.quiet_ms = 1'000;
  const auto push = [&](Queue& queue, std::string_view payload) {
    message.payload = as_bytes(payload);
    Result<PushReply> pushed = queue.push({&message, 1});
    REQUIRE(pushed.ok());
    return pushed->items.at(0);
  };
  const bool is_known_there = GENERATE(true, false);
  if (is_known_there) push(*other, "there");
  const MessageId id = push(q.door(), "moved").id;
  REQUIRE(move(q.door(), {id}).items.at(0).what == MoveResult::What::moved);
  CHECK(push(*other, "new").status == (is_known_there ? PushStatus::debounced : PushStatus::accepted));
  CHECK(push(q.door(), "here").status == PushStatus::accepted);
  q.clock().advance(1'000);
  const std::string served = all_of(*other, 9);
  CHECK((served == "moved new" || served == "new moved"));
}

TEST_CASE("messages of one tenant are moved in their order, and what cannot go stays and says why") {
  ON_EVERY_ENGINE(q);
  const std::unique_ptr<Queue> other = q.other_queue();
  if (!other) return;
  const MessageId running = q.push("a", "0");
  const Delivery delivery = q.lease();
  std::vector<MessageId> ids = {running};
  for (int i = 1; i <= 5; ++i) ids.push_back(q.push("a", std::to_string(i)));
  const MoveReply reply = move(q.door(), ids);
  INFO((reply.error ? reply.error->text : std::string()));
  REQUIRE(reply.items.size() == ids.size());
  CHECK(reply.items[0].what == MoveResult::What::stays);
  CHECK(reply.items[0].why == "is running");
  CHECK(all_of(*other, 9) == "1 2 3 4 5");
  CHECK(q.ack(delivery) == SettleStatus::ok);
}

TEST_CASE("a queue that drains or is full takes nothing, and what was to go there is served where it is") {
  ON_EVERY_ENGINE(q);
  const std::unique_ptr<Queue> other = q.other_queue();
  if (!other) return;
  const bool drains = GENERATE(true, false);
  const PolicyKey key = drains ? PolicyKey::draining : PolicyKey::max_messages;
  const std::vector<MessageId> ids = {q.push("a", "1"), q.push("b", "2"), q.push("c", "3")};
  REQUIRE(other->policy_set("", {{{key, 1, 0, {}}}, {}}).ok());
  const MoveReply reply = move(q.door(), ids);
  REQUIRE(reply.error);
  CHECK(reply.error->kind == ErrorKind::later);
  const auto moved = std::count_if(reply.items.begin(), reply.items.end(), [](const MoveResult& each) {
    return each.what == MoveResult::What::moved;
  });
  CHECK(moved == (drains ? 0 : 1));
  CHECK(all_of(*other, 9) == (drains ? "" : "1"));
  CHECK(all_of(q.door(), 9).size() == (drains ? 5 : 3));
}
