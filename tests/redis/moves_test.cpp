// moves_test - messages that go to a queue whose keys no call reaches together with theirs: whatever stops a
// move, each is in one of the two queues, and served once.
#include "tests/redis/moves_fixture.h"
#include "tests/redis/on_cluster.h"
#include "tests/redis/relay.h"

// System.
#include <array>

namespace fq::test {

namespace {

using Texts = std::vector<std::string>;

Texts together(Texts a, const Texts& b) {
  a.insert(a.end(), b.begin(), b.end());
  std::sort(a.begin(), a.end());
  return a;
}

NewMessage with_key(std::string_view payload, UniqueMode mode) {
  NewMessage message = message_for("a", payload);
  message.unique = "k";
  message.unique_mode = mode;
  return message;
}

}  // namespace

TEST_CASE("a move that stopped anywhere is brought to its end by whoever comes later, and served once") {
  Two two(GENERATE(1U, 4U), 4);
  const int steps = GENERATE(1, 2, 3, 4);
  CAPTURE(steps);
  const MessageId id = push_one(*two.from, "a", "moved");
  two.stalled(id).go(steps);
  CHECK(Two::served(*two.from).empty());
  if (steps < 3) CHECK(two.state(*two.from, id) == State::held);
  two.clock.advance(kPatienceMs - 1);
  CHECK(Two::served(*two.from).empty());
  two.clock.advance(1);
  const bool by_looking = GENERATE(true, false);
  if (by_looking) answered(two.from->stats({}));
  const Texts here = by_looking ? Texts{} : Two::served(*two.from);
  CHECK(together(here, together(Two::served(*two.from), Two::served(*two.to))) == Texts{"moved"});
  REQUIRE(two.from->maintain(10).ok());
  two.is_over();
  const MessageInfo info = answered(two.from->get(id)).value_or(MessageInfo{});
  CHECK((info.state == State::moved) == (steps > 1));
  if (steps > 1) CHECK(info.moved_to->queue == "to");
}

TEST_CASE("a move that stopped anywhere can be repeated at once") {
  Two two(GENERATE(1U, 4U), 4);
  const int steps = GENERATE(1, 2, 3, 4);
  CAPTURE(steps);
  const MessageId id = push_one(*two.from, "a", "moved");
  two.stalled(id).go(steps);
  CHECK(two.move(id).what == (steps == 1 ? MoveResult::What::moved : MoveResult::What::gone));
  CHECK(Two::served(*two.from).empty());
  CHECK(Two::served(*two.to) == Texts{"moved"});
  two.is_over();
}

TEST_CASE("who was stopped for long makes no second one of a message whose move others have finished") {
  Two two;
  const MessageId id = push_one(*two.from, "a", "moved");
  Stalled stalled = two.stalled(id);
  SECTION("it was given back") {
    stalled.go(1);
    two.clock.advance(kPatienceMs);
    CHECK(Two::served(*two.from) == Texts{"moved"});
    CHECK(stalled.take().first == "closed");
    CHECK(Two::served(*two.to).empty());
  }
  SECTION("it was given back and moved by another") {
    stalled.go(1);
    REQUIRE(two.move(id).what == MoveResult::What::moved);
    CHECK(stalled.take().first == "closed");
    CHECK(Two::served(*two.to) == Texts{"moved"});
  }
  SECTION("it was taken, and the answer lost") {
    stalled.go(2);
    two.clock.advance(kPatienceMs);
    CHECK(Two::served(*two.from).empty());
    const auto [said, id_there] = stalled.take();
    CHECK(said == "taken");
    CHECK(id_there == std::to_string(number(answered(two.from->get(id))->moved_to->id)));
    CHECK(Two::served(*two.to) == Texts{"moved"});
  }
  for (const char* const what : {"leave", "back", "done"})
    answered(stalled.here().change("crossing", {what, stalled.name(), stalled.token, "7"}));
  stalled.forget();
  CHECK(stalled.take().first != "sent");
  CHECK(together(Two::served(*two.from), Two::served(*two.to)).empty());
  two.is_over();
}

TEST_CASE("each step of a move can be taken twice") {
  Two two;
  const MessageId id = push_one(*two.from, "a", "moved");
  Stalled stalled = two.stalled(id);
  REQUIRE(stalled.send() == "sent");
  const Reply first = stalled.parcel;
  REQUIRE(stalled.send() == "sent");
  for (size_t i = 0; i < 5; ++i) CHECK(stalled.parcel.at(i).text == first.at(i).text);
  const auto taken = stalled.take();
  CHECK(stalled.take() == taken);
  for (int i = 0; i < 2; ++i) stalled.leave(taken.second);
  for (int i = 0; i < 2; ++i) stalled.forget();
  for (int i = 0; i < 2; ++i) stalled.done();
  CHECK(Two::served(*two.to) == Texts{"moved"});
  two.is_over();
}

TEST_CASE("a move that is said again takes the times with it that the message had") {
  Two two;
  NewMessage message = message_for("a");
  SECTION("since when it is ready, by which it expires") {
    message.ttl_ms = 60'000;
    const MessageId id = answered(two.from->push({&message, 1})).items.at(0).id;
    two.clock.advance(30'000);
    Stalled stalled = two.stalled(id);
    REQUIRE(stalled.send() == "sent");
    two.clock.advance(1'000);
    REQUIRE(stalled.send() == "sent");
    const MessageId there{std::stoull(stalled.take().second)};
    two.clock.advance(28'999);
    CHECK(two.state(*two.to, there) == State::ready);
    two.clock.advance(1);
    CHECK(two.state(*two.to, there) == State::dead);
  }
  SECTION("when it is due by the clock, where its shard is ahead of that") {
    message.delay_ms = 600'000;
    const MessageId id = answered(two.from->push({&message, 1})).items.at(0).id;
    two.clock.advance(-3'600'000);
    Stalled stalled = two.stalled(id);
    REQUIRE(stalled.send() == "sent");
    const int64_t due_ms = read_record(stalled.parcel.at(1).text)->timer_ms;
    CHECK(std::abs(due_ms - two.clock.boot_ms() - 600'000) < 1'000);
    REQUIRE(stalled.send() == "sent");
    CHECK(std::abs(read_record(stalled.parcel.at(1).text)->timer_ms - due_ms) < 1'000);
  }
}

TEST_CASE("what is on its way is changed by nobody") {
  Two two;
  const NewMessage keyed = with_key("moved", UniqueMode::keep);
  const MessageId id = answered(two.from->push({&keyed, 1})).items.at(0).id;
  Stalled stalled = two.stalled(id);
  stalled.go(1);
  for (const Action action : {Action::cancel, Action::kick}) {
    const Result<MutateReply> changed = two.from->mutate({&id, 1}, action);
    REQUIRE(!changed.ok());
    CHECK(changed.error().kind == ErrorKind::later);
    CHECK(changed.error().text.find("is on its way to another queue") != std::string::npos);
  }
  CHECK(answered(two.from->mutate(Filter{}, Action::cancel, {}, 10)).changed == 0);
  CHECK(answered(two.from->select({}, {}, 10)).ids.empty());
  MessagePatch patch;
  patch.priority = 3;
  CHECK(two.from->edit(id, patch).error().kind == ErrorKind::later);
  for (const UniqueMode mode : {UniqueMode::replace, UniqueMode::after}) {
    const NewMessage message = with_key("other", mode);
    const Result<PushReply> pushed = two.from->push({&message, 1});
    const Error error = pushed ? pushed->error.value() : pushed.error();
    CHECK(error.kind == ErrorKind::later);
    CHECK(error.text.find("is on its way to another queue") != std::string::npos);
  }
  CHECK(answered(two.from->push({&keyed, 1})).items.at(0).status == PushStatus::duplicate);
  NewMessage behind = message_for("a", "behind");
  behind.after = {id};
  const Result<PushReply> refused = two.from->push({&behind, 1});
  CHECK((refused ? refused->error.value() : refused.error()).kind == ErrorKind::missing);
  const std::vector<Reason> why = answered(two.from->explain({.id = id})).subject->reasons;
  CHECK((why.at(0).kind == Reason::Kind::held && why.at(0).ids.empty()));
  CHECK(Two::served(*two.from).empty());
  CHECK(answered(two.from->check()).findings.empty());
  CHECK(two.move(id).what == MoveResult::What::moved);
  CHECK(Two::served(*two.to) == Texts{"moved"});
  two.is_over();
}

TEST_CASE("what comes back is as it was") {
  Two two(1, 4);
  const auto come_back = [&](MessageId id) {
    two.stalled(id, "back" + std::to_string(number(id))).go(1);
    two.clock.advance(kPatienceMs);
    answered(two.from->stats({}));
  };
  SECTION("in its place") {
    push_one(*two.from, "a", "1");
    const MessageId second = push_one(*two.from, "a", "2");
    push_one(*two.from, "a", "3");
    come_back(second);
    const LeaseReply reply = answered(two.from->lease(for_a_minute(3)));
    REQUIRE(reply.deliveries.size() == 3);
    CHECK(reply.deliveries[1].id == second);
  }
  SECTION("due when it was") {
    NewMessage message = message_for("a", "late");
    message.delay_ms = 60'000;
    const MessageId id = answered(two.from->push({&message, 1})).items.at(0).id;
    const auto due = answered(two.from->get(id))->due_at_wall_ms;
    come_back(id);
    CHECK(two.state(*two.from, id) == State::delayed);
    CHECK(answered(two.from->get(id))->due_at_wall_ms == due);
  }
  SECTION("with its keys") {
    NewMessage message = message_for("a", "first");
    const bool debounced = GENERATE(true, false);
    if (debounced) message.debounce = "k", message.quiet_ms = 60'000;
    if (!debounced) message.unique = "k";
    const MessageId id = answered(two.from->push({&message, 1})).items.at(0).id;
    come_back(id);
    const PushResult again = answered(two.from->push({&message, 1})).items.at(0);
    CHECK(again.status == (debounced ? PushStatus::debounced : PushStatus::duplicate));
    CHECK(again.id == id);
    CHECK(answered(two.from->mutate({&id, 1}, Action::cancel)).changed == 1);
  }
  SECTION("dead") {
    const MessageId id = push_one(*two.from, "a", "x");
    Settle bury;
    bury.receipt = answered(two.from->lease(for_a_minute())).deliveries.at(0).receipt;
    bury.verdict = Verdict::bury;
    bury.reason = "no good";
    answered(two.from->settle({&bury, 1}));
    come_back(id);
    CHECK(two.state(*two.from, id) == State::dead);
    CHECK(answered(two.from->get(id))->last_error->reason == "no good");
    CHECK(answered(two.from->mutate({&id, 1}, Action::kick)).changed == 1);
    CHECK(Two::served(*two.from) == Texts{"x"});
  }
  two.is_over();
}

TEST_CASE("what was on its way to a queue that is gone comes back") {
  Two two;
  const MessageId id = push_one(*two.from, "a", "moved");
  two.stalled(id).go(1);
  two.to.reset();
  REQUIRE(told_time_engine().remove({two.server.spool(), "to"}).ok());
  two.clock.advance(kPatienceMs);
  CHECK(Two::served(*two.from) == Texts{"moved"});
}

TEST_CASE("a move of which only the end was left is over where its queue is gone") {
  Two two;
  const MessageId id = push_one(*two.from, "a", "moved");
  two.stalled(id).go(3);
  two.to.reset();
  REQUIRE(told_time_engine().remove({two.server.spool(), "to"}).ok());
  two.clock.advance(kPatienceMs);
  CHECK(Two::served(*two.from).empty());
  CHECK(command(two.server, {"KEYS", "*:mv"}).items.empty());
}

TEST_CASE(
    "a queue is removed after the moves out of it were brought to their end, and nothing of them is left") {
  const uint32_t shards = GENERATE(1U, 4U);
  const int steps = GENERATE(1, 2, 3, 4);
  CAPTURE(shards, steps);
  Two two(shards, 4);
  Stalled stalled = two.stalled(push_one(*two.from, "a", "moved"));
  stalled.go(steps);
  two.from.reset();
  REQUIRE(told_time_engine().remove({two.server.spool(), "from"}).ok());
  // Whoever was killed may have sent a call that comes only now.
  CHECK(stalled.take().first == (steps == 1 ? "closed" : "taken"));
  CHECK(Two::served(*two.to) == (steps == 1 ? Texts{} : Texts{"moved"}));
  two.from = two.open("to");
  two.is_over();
}

TEST_CASE("a queue stays while a move out of it cannot be brought to its end") {
  Two two;
  two.stalled(push_one(*two.from, "a", "moved")).go(2);
  two.from.reset();
  const Relay relay(two.server, [](const std::string& asked) {
    return asked.find("close\r\n") == std::string::npos ? "" : "-MISCONF it cannot save\r\n";
  });
  const Result<void> removed = told_time_engine().remove({relay.spool(), "from"});
  REQUIRE(!removed.ok());
  CHECK(removed.error().kind == ErrorKind::later);
  CHECK(removed.error().text.find("queue 'from': messages are on their way from it to another queue") == 0);
  two.from = two.open("from");
  two.clock.advance(kPatienceMs);
  CHECK(Two::served(*two.from).empty());
  CHECK(Two::served(*two.to) == Texts{"moved"});
  two.is_over();
}

TEST_CASE("what is refused where it goes stays, is served, and is not held for a moment longer") {
  Two two(GENERATE(1U, 4U), 4);
  const MessageId id = push_one(*two.from, "a", "x");
  const std::array one = {id};
  SECTION("it is full, over all of its shards") {
    REQUIRE(two.to->policy_set("", {{{PolicyKey::max_messages, 3, 0, {}}}, {}}).ok());
    for (int i = 0; i < 3; ++i) {
      const MessageId other = push_one(*two.from, "b" + std::to_string(i), "y");
      CHECK(two.move(other).what == MoveResult::What::moved);
    }
    const MoveReply reply = answered(two.from->move(one, {"to", {}}));
    REQUIRE(reply.error);
    CHECK(reply.error->kind == ErrorKind::later);
    CHECK(reply.error->text.find("the limit is 3 (max_messages)") != std::string::npos);
    CHECK(Two::served(*two.to).size() == 3);
    CHECK(two.move(push_one(*two.from, "c", "z")).what == MoveResult::What::moved);
  }
  SECTION("it drains") {
    REQUIRE(two.to->policy_set("", {{{PolicyKey::draining, 1, 0, {}}}, {}}).ok());
    const MoveReply reply = answered(two.from->move(one, {"to", {}}));
    REQUIRE(reply.error);
    CHECK(reply.error->kind == ErrorKind::later);
    CHECK(reply.items.empty());
  }
  SECTION("its key is in use there") {
    const NewMessage keyed = with_key("x", UniqueMode::keep);
    const MessageId other = answered(two.from->push({&keyed, 1})).items.at(0).id;
    answered(two.to->push({&keyed, 1}));
    CHECK(two.move(other).why == "its unique key is in use in queue 'to'");
    CHECK(two.move(other, "b").what == MoveResult::What::moved);
  }
  SECTION("it is there no more") {
    const Result<MoveReply> moved = two.from->move(one, {"nowhere", {}});
    REQUIRE(!moved.ok());
    CHECK(moved.error().kind == ErrorKind::missing);
  }
  CHECK(two.state(*two.from, id) == State::ready);
  CHECK(Two::served(*two.from) == Texts{"x"});
  static_cast<void>(Two::served(*two.to));
  two.is_over();
}

TEST_CASE("a server that takes nothing more leaves a message where it is, at once") {
  Two two;
  const MessageId id = push_one(*two.from, "a", "x");
  const Relay relay(two.server, [](const std::string& asked) {
    return asked.find("_take\r\n") == std::string::npos ? "" : "-OOM command not allowed\r\n";
  });
  OpenOptions options;
  options.clock = &two.clock;
  const auto queue = answered(told_time_engine().open({relay.spool(), "from"}, options));
  const MoveReply reply = answered(queue->move({&id, 1}, {"to", {}}));
  REQUIRE(reply.error);
  CHECK(reply.error->kind == ErrorKind::later);
  CHECK(two.state(*two.from, id) == State::ready);
  CHECK(Two::served(*two.from) == Texts{"x"});
  two.is_over();
}

TEST_CASE("check finds what is on a way of which nobody knows the end, and repair serves it") {
  Two two(1, 4);
  const MessageId id = push_one(*two.from, "a", "x");
  two.stalled(id).go(1);
  CHECK(answered(two.from->check()).findings.empty());
  const std::string key = command(two.server, {"KEYS", "*:mv"}).items.at(0).text;
  const std::string root = key.substr(0, key.size() - 2) + "h";
  command(two.server, {"DEL", key});
  command(two.server, {"HDEL", root, "crossing"});
  CHECK(answered(two.from->check()).findings.count == 1);
  answered(two.from->check({.repair = true}));
  CHECK(answered(two.from->check()).findings.empty());
  CHECK(Two::served(*two.from) == Texts{"x"});
}

TEST_CASE("on a cluster messages are moved between queues wherever they lie") {
  const uint32_t shards = GENERATE(1U, 4U, 64U), shards_there = GENERATE(1U, 4U, 64U);
  CAPTURE(shards, shards_there);
  OnCluster s(shards);
  const Location target{s.location.spool, "target"};
  answered(real_time_engine().create(target, {.shards = shards_there}));
  const auto there = answered(real_time_engine().open(target, {}));
  Texts payloads;
  std::vector<MessageId> ids;
  for (int i = 0; i < 20; ++i) {
    payloads.push_back("m" + std::to_string(10 + i));
    ids.push_back(push_one(*s.queue, "t" + std::to_string(i % 7), payloads.back()));
  }
  const MoveReply reply = answered(s.queue->move(ids, {"target", {}}));
  REQUIRE(!reply.error);
  for (size_t i = 0; i < ids.size(); ++i) {
    CHECK(reply.items.at(i).what == MoveResult::What::moved);
    CHECK(answered(s.queue->get(ids[i]))->moved_to->id == reply.items[i].id_there);
  }
  CHECK(Two::served(*s.queue).empty());
  CHECK(Two::served(*there) == payloads);
  CHECK(answered(s.queue->check()).findings.empty());
  CHECK(answered(there->check()).findings.empty());
  REQUIRE(real_time_engine().remove(target).ok());
}

}  // namespace fq::test
