// A queue's messages in another queue, of each engine: with what they have, and none twice.
#include "tests/api/exchange.h"
#include "tests/api/steps_scene.h"

using namespace fq;
using namespace fq::test;

TEST_CASE("what is exported is in another queue what it was") {
  WHERE_EXPORTS_ARE(q);
  QueueFixture to(fq_engine);
  const MessageId first = to.push("a", "first");
  const MessageId id =
      q.push("a/b", "payload",
             {.priority = 3, .delay_ms = 5'000, .attempts_max = 7, .tags = {{"k", "v"}}, .ttl_ms = 9'000});
  const ExportedMessage message = exported(q, id);
  const MessageId there = import_one(to, message);
  const MessageInfo before = q.get(id), after = to.get(there);
  CHECK(after.state == State::delayed);
  CHECK(after.tenant == "a/b");
  CHECK(after.payload == before.payload);
  CHECK(after.priority == 3);
  CHECK(after.attempts_max == 7);
  CHECK(after.tags == before.tags);
  CHECK(after.ttl_ms == before.ttl_ms);
  CHECK(number(there) > number(first));
}

TEST_CASE("what was imported is known, also when it has ended") {
  WHERE_EXPORTS_ARE(q);
  QueueFixture to(fq_engine);
  const ExportedMessage message = exported(q, q.push("t", "once"));
  const MessageId there = import_one(to, message);
  CHECK(import_all(to, {message}).items[0].what == ImportResult::What::known);
  CHECK(to.pop() == "once");
  const ImportReply again = import_all(to, {message});
  CHECK(again.items[0].what == ImportResult::What::known);
  CHECK(again.items[0].id == there);
  CHECK(to.peek().empty());
  // Of another queue the same id is another message.
  CHECK(import_all(to, {message}, "another").items[0].what == ImportResult::What::imported);
}

TEST_CASE("what is imported arrives and is not pushed, by its count and its event") {
  WHERE_EXPORTS_ARE(q);
  QueueFixture to(fq_engine);
  const MessageId ready = q.push("t", "ready"), delayed = q.push("t", "delayed", {.delay_ms = 1'000});
  const MessageId there = import_one(to, exported(q, ready)), later = import_one(to, exported(q, delayed));
  to.push("t", "own");
  CHECK(to.stats().pushed == 1);
  CHECK(to.stats("t").pushed == 1);
  EventPage page;
  REQUIRE(to.door().events({}, page).ok());
  std::string told;
  for (const Event& event : page.events) {
    if (event.id == there || event.id == later) told += std::string(event.event) + " ";
  }
  CHECK(told == "arrived arrived ");
}

TEST_CASE("what was imported is forgotten after its time") {
  WHERE_EXPORTS_ARE(q);
  QueueFixture to(fq_engine);
  const ExportedMessage message = exported(q, q.push("t", "once"));
  import_one(to, message);
  CHECK(to.pop() == "once");
  to.clock().advance(kImportRememberedMs + 1'000);
  CHECK(import_all(to, {message}).items[0].what == ImportResult::What::imported);
}

TEST_CASE("a dead one is dead there, and why") {
  WHERE_EXPORTS_ARE(q);
  QueueFixture to(fq_engine);
  const MessageId id = q.push("t", "m");
  q.bury(q.lease(), "no good");
  const MessageId there = import_one(to, exported(q, id));
  const MessageInfo info = to.get(there);
  CHECK(info.state == State::dead);
  REQUIRE(info.last_error);
  CHECK(info.last_error->reason == "no good");
  CHECK(info.deliveries == 1);
  CHECK(to.mutate({there}, Action::kick).changed == 1);
  CHECK(to.pop() == "m");
}

TEST_CASE(
    "a dead one tells there how its last run ended, though not when, and so it does once it is cancelled") {
  WHERE_EXPORTS_ARE(q);
  QueueFixture to(fq_engine);
  REQUIRE(to.door().policy_set("", {{{PolicyKey::retention, 60'000, 0, {}}}, {}}).ok());
  const MessageId id = q.push("t", "m");
  Settle end;
  end.receipt = q.lease().receipt;
  end.verdict = Verdict::bury;
  end.exit = 9;
  REQUIRE(q.door().settle({&end, 1}).ok());
  const MessageId there = import_one(to, exported(q, id));
  CHECK(to.get(there).exit == 9);
  CHECK_FALSE(to.get(there).started_at_wall_ms);
  CHECK(to.mutate({there}, Action::cancel).changed == 1);
  CHECK(to.get(there).state == State::cancelled);
  CHECK(to.get(there).exit == 9);
  CHECK_FALSE(to.get(there).started_at_wall_ms);
}

TEST_CASE("what is held for nothing is not held there") {
  WHERE_EXPORTS_ARE(q);
  ExportedMessage message = a_message(q, 5, State::held);
  CHECK(q.get(import_one(q, message)).state == State::ready);
  CHECK(q.pop() == "m");
  message.id = MessageId{6};
  message.due_wall_ms = q.clock().wall_ms() + 1'000;
  CHECK(q.get(import_one(q, message)).state == State::delayed);
  const MessageId ended = q.push("t", "ended");
  CHECK(q.pop() == "ended");
  message.id = MessageId{7};
  message.due_wall_ms = 0;
  message.after = {{ended, false, true}};
  import_one(q, message);
  CHECK(q.pop() == "m");
  q.clock().advance(1'000);
  CHECK(q.pop() == "m");
}

TEST_CASE("whose key another has by now comes without it, and so does one that was debounced and has run") {
  WHERE_EXPORTS_ARE(q);
  NewMessage keyed = message_of("t", "m", {});
  keyed.unique = "key";
  const auto put = [&](const NewMessage& message) {
    return q.door().push({&message, 1}).value().items[0].id;
  };
  const MessageId first = put(keyed);
  q.bury(q.lease());
  const MessageId second = put(keyed);
  CHECK(q.mutate({first}, Action::kick).changed == 1);
  CHECK(exported(q, first).unique.empty());
  CHECK(exported(q, second).unique == "key");
  CHECK(q.mutate({first}, Action::cancel).changed == 1);
  CHECK(q.mutate({second}, Action::cancel).changed == 1);
  NewMessage debounced = message_of("t", "d", {});
  debounced.debounce = "key";
  debounced.quiet_ms = 10;
  const MessageId third = put(debounced);
  CHECK(exported(q, third).debounce == "key");
  q.clock().advance(1'000);
  q.retry(q.lease(), 5'000);
  CHECK(exported(q, third).state == State::delayed);
  CHECK(exported(q, third).debounce.empty());
}

TEST_CASE("who waits for others still is behind nobody once the one that has its key has ended") {
  WHERE_EXPORTS_ARE(q);
  NewMessage keyed = message_of("t", "m", {});
  keyed.unique = "key";
  keyed.unique_mode = UniqueMode::after;
  const auto put = [&](const NewMessage& message) {
    return q.door().push({&message, 1}).value().items[0].id;
  };
  const MessageId leader = put(keyed);
  const Delivery running = q.lease();
  keyed.after = {q.push("t", "later", {.delay_ms = 60'000})};
  const MessageId held = put(keyed);
  CHECK(exported(q, held).behind == leader);
  q.ack(running);
  CHECK(exported(q, held).state == State::held);
  CHECK(exported(q, held).behind == MessageId{});
}

TEST_CASE("one that waits for any end of one that is dead there is let go as it comes in") {
  WHERE_EXPORTS_ARE(q);
  const MessageId dead = q.push("t", "dead");
  q.bury(q.lease());
  const MessageId first = q.push("t", "first");
  ExportedMessage message = a_message(q, 7, State::held);
  message.after = {{dead, true, false}};
  CHECK(q.get(import_one(q, message)).state == State::ready);
  message.id = MessageId{8};
  message.after.push_back({first, true, false});
  const MessageId waiting = import_one(q, message);
  const std::vector<ExportedWait> waits = exported(q, waiting).after;
  REQUIRE(waits.size() == 2);
  CHECK(waits[0].closed);
  CHECK_FALSE(waits[1].closed);
  CHECK(q.get(waiting).state == State::held);
}

TEST_CASE("a key that is in use there keeps it out, a debounce key too") {
  WHERE_EXPORTS_ARE(q);
  ExportedMessage message = a_message(q, 7, State::delayed);
  message.since_wall_ms = q.clock().wall_ms() + 500;
  message.debounce = "key";
  const MessageId first = import_one(q, message);
  message.id = MessageId{8};
  const ImportReply reply = import_all(q, {message});
  REQUIRE(reply.items.size() == 1);
  CHECK(reply.items.at(0).what == ImportResult::What::refused);
  CHECK(reply.items.at(0).why.starts_with("its debounce key is in use in "));
  CHECK(q.get(first).state == State::delayed);
  q.clock().advance(1'000);
  CHECK(q.pop() == "m");
  import_one(q, message);
}

TEST_CASE("one that has expired is dead there for that reason, whichever engine told of it") {
  WHERE_EXPORTS_ARE(q);
  QueueFixture to(fq_engine);
  const MessageId id = q.push("t", "m", {.ttl_ms = 10});
  q.clock().advance(1'000);
  to.clock().advance(1'000);
  ExportedMessage message = exported(q, id);
  CHECK(message.expired);
  const auto why = [&](MessageId there) {
    const std::optional<Explanation> subject = to.door().explain({.id = there, .tenant = {}}).value().subject;
    REQUIRE(subject);
    REQUIRE(subject->reasons.size() == 1);
    return subject->reasons[0].kind;
  };
  CHECK(why(import_one(to, message)) == Reason::Kind::expired);
  // A spool tells it without words, a server by its last failure too.
  message.id = MessageId{99};
  message.last_error.reset();
  const MessageId there = import_one(to, message);
  CHECK(why(there) == Reason::Kind::expired);
  REQUIRE(to.get(there).last_error);
  CHECK(to.get(there).last_error->reason == "expired");
}

TEST_CASE("what came after one comes after it there, and one that has ended there is no hindrance") {
  WHERE_EXPORTS_ARE(q);
  QueueFixture to(fq_engine);
  const MessageId first = q.push("t", "first");
  NewMessage then = message_of("t", "then", {});
  then.after = {first};
  const MessageId second = q.door().push({&then, 1}).value().items[0].id;
  const MessageId there = import_one(to, exported(q, first));
  ExportedMessage message = exported(q, second);
  CHECK(message.state == State::held);
  REQUIRE(message.after.size() == 1);
  message.after[0].id = there;
  const MessageId held = import_one(to, message);
  CHECK(to.get(held).state == State::held);
  CHECK(to.pop() == "first");
  CHECK(to.pop() == "then");
  message.id = MessageId{99};
  import_one(to, message);
  CHECK(to.pop() == "then");
}

TEST_CASE("a dead one that came after others has its delay or time there, when it is kicked") {
  WHERE_EXPORTS_ARE(q);
  QueueFixture to(fq_engine);
  const bool is_timed = GENERATE(false, true);
  const MessageId first = q.push("t", "first");
  NewMessage then = message_of("t", "then", {});
  then.after = {first};
  (is_timed ? then.at_wall_ms : then.delay_ms) = (is_timed ? q.clock().wall_ms() : 0) + 600'000;
  const MessageId second = q.door().push({&then, 1}).value().items[0].id;
  const ExportedMessage first_there = exported(q, first);
  q.bury(q.lease());
  ExportedMessage message = exported(q, second);
  CHECK(message.due_wall_ms == q.clock().wall_ms() + 600'000);
  message.after.at(0).id = import_one(to, first_there);
  const MessageId dead = import_one(to, message);
  CHECK(to.mutate({dead}, Action::kick).changed == 1);
  CHECK(to.pop() == "first");
  CHECK(to.get(dead).state == State::delayed);
}

TEST_CASE("what came after one that has ended just now is told as it is by then") {
  WHERE_EXPORTS_ARE(q);
  NewMessage then = message_of("t", "then", {});
  then.after_any = {q.push("t", "first", {.ttl_ms = 200})};
  const MessageId second = q.door().push({&then, 1}).value().items[0].id;
  CHECK(exported(q, second).state == State::held);
  q.clock().advance(300);  // and nobody asks for anything
  CHECK(exported(q, second).state == State::ready);
}

TEST_CASE("of one that was held behind another with its key, and is dead, only its key is told") {
  WHERE_EXPORTS_ARE(q);
  QueueFixture to(fq_engine);
  const auto push_with_key = [&](std::string_view payload, std::vector<MessageId> after) {
    NewMessage message = message_of("t", payload, {});
    message.unique = "k";
    message.unique_for_ms = 500;
    message.unique_mode = UniqueMode::after;
    message.after = std::move(after);
    return q.door().push({&message, 1}).value().items[0].id;
  };
  push_with_key("runs", {});
  const Delivery runs = q.lease();
  const MessageId needed = q.push("t", "needed", {.delay_ms = 60'000});
  const MessageId behind = push_with_key("behind", {needed});
  CHECK(number(exported(q, behind).behind) == number(runs.id));
  q.mutate({needed}, Action::cancel);
  const ExportedMessage dead = exported(q, behind);
  CHECK(dead.state == State::dead);
  CHECK(number(dead.behind) == 0);
  CHECK(dead.unique == "k");
  CHECK(to.get(import_one(to, dead)).state == State::dead);
}

TEST_CASE("one that came after what it is also held behind is told to be behind that, once") {
  WHERE_EXPORTS_ARE(q);
  NewMessage message = message_of("t", "x", {});
  message.unique = "k";
  message.unique_mode = UniqueMode::after;
  const MessageId first = q.door().push({&message, 1}).value().items[0].id;
  REQUIRE(q.lease().id == first);
  message.after_any = {first};
  const MessageId second = q.door().push({&message, 1}).value().items[0].id;
  const ExportedMessage told = exported(q, second);
  CHECK(told.behind == first);
  CHECK(told.after.empty());
}

TEST_CASE("steps come with their message, which does not start before they are there") {
  WHERE_EXPORTS_ARE(q);
  if (q.door().steps() == nullptr) return;
  QueueFixture to(fq_engine);
  const MessageId id = push_with_steps(q, {{"one", "output"}, {"two", std::string(100'000, 'x')}});
  const ExportedMessage message = exported(q, id);
  REQUIRE(message.steps.size() == 2);
  const MessageId there = import_one(to, message);
  CHECK(names(to, there) == "one two ");
  const Delivery again = to.lease();
  CHECK(again.delivery == 2);
  CHECK(begin(to, again, "one") == "kept output");
  CHECK(begin(to, again, "two") == "kept " + std::string(100'000, 'x'));
  import_one(to, message);
  CHECK(names(to, there) == "one two ");
}

TEST_CASE("of what has ended only that is told") {
  WHERE_EXPORTS_ARE(q);
  for (const State state : {State::acked, State::cancelled}) {
    ExportedMessage end;
    end.id = MessageId{state == State::acked ? 5u : 6u};
    end.state = state;
    CHECK(q.get(import_one(q, end)).state == state);
  }
  CHECK(q.stats().ready == 0);
  CHECK(q.stats().delayed == 0);
}

TEST_CASE("what a queue does not take is refused, and the others are not") {
  WHERE_EXPORTS_ARE(q);
  QueueFixture to(fq_engine);
  std::vector<ExportedMessage> messages = {exported(q, q.push("t", "high", {.priority = 5})),
                                           exported(q, q.push("t", "plain"))};
  ExportedMessage bad = messages[1];
  bad.id = MessageId{77};
  bad.tenant = "a//b";
  messages.push_back(bad);
  to.set("", PolicyKey::order, static_cast<int64_t>(Order::fifo));
  const ImportReply reply = import_all(to, messages);
  CHECK(!reply.error);
  CHECK(reply.items[0].what == ImportResult::What::refused);
  CHECK(reply.items[1].what == ImportResult::What::imported);
  CHECK(reply.items[2].what == ImportResult::What::refused);
  CHECK(to.peek() == "plain");
}

TEST_CASE("a limit ends an import, which goes on when there is room") {
  WHERE_EXPORTS_ARE(q);
  QueueFixture to(fq_engine);
  const std::vector<ExportedMessage> messages = {exported(q, q.push("t", "1")),
                                                 exported(q, q.push("t", "2"))};
  to.set("t", PolicyKey::max_messages, 1);
  const ImportReply reply = import_all(to, messages);
  REQUIRE(reply.error);
  CHECK(reply.error->kind == ErrorKind::later);
  CHECK(reply.items.size() == 1);
  to.unset("t", PolicyKey::max_messages);
  CHECK(import_all(to, messages).items[1].what == ImportResult::What::imported);
  CHECK(to.peek() == "1 2");
}

TEST_CASE("a unique key is held there by what has it") {
  WHERE_EXPORTS_ARE(q);
  QueueFixture to(fq_engine);
  NewMessage keyed = message_of("t", "m", {});
  keyed.unique = "key";
  const MessageId id = q.door().push({&keyed, 1}).value().items[0].id;
  const ExportedMessage message = exported(q, id);
  const MessageId there = import_one(to, message);
  const PushReply pushed = to.door().push({&keyed, 1}).value();
  CHECK(pushed.items[0].status == PushStatus::duplicate);
  CHECK(pushed.items[0].id == there);
  CHECK(import_all(to, {message}, "another").items[0].what == ImportResult::What::refused);
}
