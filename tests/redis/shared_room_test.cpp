// shared_room_test - limits of messages and bytes of a whole queue that lies in many shards: never more than
// they say, whatever is lost on the way, and no room is lost for good.
#include "tests/redis/shared_room.h"

// System.
#include <chrono>
#include <thread>
// fq, below us.
#include "core/redis/wire/answer.h"

namespace fq::test {

namespace {

constexpr std::string_view kFullOfThree =
    "queue 'default': has 3 messages, the limit is 3 (max_messages); try again when some are done";

}  // namespace

TEST_CASE("a queue holds no more messages than it may, whatever shards they lie in") {
  Sharded s(GENERATE(4U, 16U, 64U));
  REQUIRE(s.queue->policy_set("", most(PolicyKey::max_messages, 3)).ok());
  const auto other = s.another();
  CHECK(taken_of(*s.queue, 20) == 3);
  CHECK(room_refusal(*other, "z") == kFullOfThree);
  std::vector<Delivery> running = taken(*s.queue, 3);
  REQUIRE(running.size() == 3);
  CHECK(!takes(*other, "z"));  // what runs is there, too
  SECTION("one that is acked makes room anywhere") { REQUIRE(settled(*other, running[0]) == 1); }
  SECTION("a dead one takes none") {
    Settle bury;
    bury.receipt = running[1].receipt;
    bury.verdict = Verdict::bury;
    REQUIRE(answered(s.queue->settle({&bury, 1})).items.at(0) == SettleStatus::ok);
  }
  SECTION("nor one that is cancelled") {
    REQUIRE(answered(other->mutate({&running[2].id, 1}, Action::cancel)).changed == 1);
  }
  CHECK(taken_of(*other, 20) == 1);
  CHECK(taken_of(*s.queue, 20) == 0);
  CHECK(is_well(*s.queue));
}

TEST_CASE("what runs out of its time makes room in a queue of many shards, for another one too") {
  FakeClock clock;
  Sharded s(4, told_time_engine(), &clock);
  std::string other;
  one_of_two(s, other);
  REQUIRE(s.queue->policy_set("", most(PolicyKey::max_messages, 3)).ok());
  NewMessage message = message_for("a");
  message.ttl_ms = 1'000;
  REQUIRE(answered(s.queue->push({&message, 1})).items.at(0).status == PushStatus::accepted);
  CHECK(!takes(*s.queue, other));
  clock.advance(2'000);  // and nobody calls the shard in which it lies
  CHECK(takes(*s.queue, other));
  CHECK(!takes(*s.queue, other));
  CHECK(is_well(*s.queue));
}

TEST_CASE("above a limit that was lowered, what runs out of its time makes room for nothing") {
  FakeClock clock;
  Sharded s(4, told_time_engine(), &clock);
  std::string other;
  one_of_two(s, other);
  for (int i = 0; i < 2; ++i) push_one(*s.queue, other, "x");
  NewMessage message = message_for("a");
  message.ttl_ms = 1'000;
  REQUIRE(answered(s.queue->push({&message, 1})).items.size() == 1);
  REQUIRE(s.queue->policy_set("", most(PolicyKey::max_messages, 3)).ok());
  clock.advance(2'000);
  CHECK(!takes(*s.queue, "a"));  // four are left
  CHECK(sums(*s.queue).ready == 4);
  CHECK(is_well(*s.queue));
}

TEST_CASE("a queue of many shards holds no more bytes than it may") {
  Sharded s;
  std::string other;
  one_of_two(s, other);
  const uint64_t before = sums(*s.queue).bytes;
  REQUIRE(s.queue->policy_set("", most(PolicyKey::max_bytes, static_cast<int64_t>(before) + 10)).ok());
  CHECK(takes(*s.queue, "c", "123456"));
  const MessageId last = push_one(*s.queue, other, "7890");
  CHECK(!takes(*s.queue, "c", "1"));
  CHECK(takes(*s.queue, "c", ""));
  MessagePatch patch;
  patch.payload = as_bytes(std::string_view("78901"));
  const Result<SettleStatus> longer = s.queue->edit(last, patch);
  REQUIRE(!longer.ok());
  CHECK(longer.error().text.find("(max_bytes)") != std::string::npos);
  patch.payload = as_bytes(std::string_view("7"));
  CHECK(answered(s.queue->edit(last, patch)) == SettleStatus::ok);
  CHECK(takes(*s.queue, "d", "123"));
  CHECK(!takes(*s.queue, "a", "1"));
  CHECK(sums(*s.queue).bytes == before + 10);
  CHECK(is_well(*s.queue));
}

TEST_CASE("what is more than the whole queue may hold is refused at once, in a queue of many shards, too") {
  Sharded s(4);
  REQUIRE(s.queue->policy_set("", most(PolicyKey::max_bytes, 3)).ok());
  PushOptions block;
  block.block = true;
  CHECK(room_refusal(*s.queue, "a", "1234", block) ==
        "queue 'default': gets 4 bytes at once, the limit is 3 (max_bytes)");
  CHECK(sums(*s.queue).pushed == 0);
}

TEST_CASE("who may wait for room in a queue of many shards gets what another shard makes", "[threads]") {
  Sharded s(4);
  std::string other;
  const auto [first, second] = one_of_two(s, other);
  REQUIRE(s.queue->policy_set("", most(PolicyKey::max_messages, 2)).ok());
  PushOptions block;
  block.block = true;
  block.wait_ms = 60;
  CHECK(!room_refusal(*s.queue, "a", "x", block).empty());
  std::thread ends([&s, id = second] {
    const auto queue = s.another();
    std::this_thread::sleep_for(std::chrono::milliseconds(60));  // mostly it waits by then; nothing tells
    static_cast<void>(queue->mutate({&id, 1}, Action::cancel));
  });
  block.wait_ms = 30'000;
  const std::string late = room_refusal(*s.queue, "a", "x", block);
  ends.join();
  CHECK(late.empty());
  CHECK(first != second);
}

TEST_CASE("a limit of messages over shards becomes another, and none") {
  Sharded s;
  for (int i = 0; i < 6; ++i) push_one(*s.queue, tenant(i), "x");
  REQUIRE(s.queue->policy_set("", most(PolicyKey::max_messages, 8)).ok());
  CHECK(taken_of(*s.queue, 20) == 2);
  REQUIRE(s.queue->policy_set("", most(PolicyKey::max_messages, 5)).ok());
  for (int i = 0; i < 3; ++i) {
    CHECK(taken_of(*s.another(), 20) == 0);
    REQUIRE(settled(*s.queue, taken(*s.queue, 1).at(0)) == 1);
  }
  CHECK(taken_of(*s.queue, 20) == 0);
  REQUIRE(settled(*s.queue, taken(*s.queue, 1).at(0)) == 1);
  CHECK(taken_of(*s.queue, 20) == 1);
  REQUIRE(s.queue->policy_set("", most(PolicyKey::max_messages, 7)).ok());
  CHECK(taken_of(*s.queue, 20) == 2);
  REQUIRE(s.queue->policy_load({{{PolicyKey::max_bytes, 9, 0, {}}}, {}, {}}, {.inode = 1}).ok());
  CHECK(taken_of(*s.queue, 20) == 0);
  REQUIRE(s.queue->policy_set("", none(PolicyKey::max_messages)).ok());
  CHECK(taken_of(*s.queue, 20) == 2);
  REQUIRE(s.queue->policy_load({}, {.inode = 2}).ok());
  CHECK(taken_of(*s.queue, 20) == 20);
  CHECK(is_well(*s.queue));
}

TEST_CASE("a batch needs room in each of its shards, and takes all or nothing of it there") {
  Sharded s(4);
  std::string other;
  one_of_two(s, other);
  REQUIRE(s.queue->policy_set("", most(PolicyKey::max_messages, 6)).ok());
  std::vector<NewMessage> batch(3, message_for("a"));
  CHECK(is_accepted(answered(s.queue->push(batch)).items.at(2).status));
  batch.assign(2, message_for(other));
  const Result<PushReply> two = s.queue->push(batch);
  REQUIRE(!two.ok());
  CHECK(two.error().text.starts_with("queue 'default': has 5 messages, the limit is 6 (max_messages); "));
  CHECK(sums(*s.queue).ready == 5);
  batch.assign(1, message_for(other));
  CHECK(answered(s.queue->push(batch)).items.size() == 1);
  CHECK(sums(*s.queue).ready == 6);
  CHECK(is_well(*s.queue));
}

TEST_CASE("what is kicked is not refused, and takes the room of what is pushed in other shards") {
  Sharded s(4);
  std::string other;
  const auto [first, second] = two_dead(s, other);
  REQUIRE(s.queue->policy_set("", most(PolicyKey::max_messages, 8)).ok());
  REQUIRE(takes(*s.queue, other));  // its shard is lent more than that
  for (int i = 0; i < 7; ++i) REQUIRE(takes(*s.queue, "a"));
  LeaseRequest of_a = for_a_minute();
  of_a.tenant = "a";
  for (int i = 0; i < 2; ++i)  // its shard has room left, and the other one has none
    REQUIRE(settled(*s.queue, answered(s.queue->lease(of_a)).deliveries.at(0)) == 1);
  const uint64_t left = sums(*s.queue).ready;
  REQUIRE(left == 6);
  const MessageId both[] = {first, second};
  const uint64_t kicked = answered(s.queue->mutate(both, Action::kick)).changed;
  CHECK(left + kicked == sums(*s.queue).ready);
  CHECK(taken_of(*s.another(), 20) == 8 - left - kicked);
  CHECK(taken_of(*s.queue, 20) == 0);
  CHECK(is_well(*s.queue));
}

TEST_CASE("above its limit by what was kicked, a queue of many shards takes nothing until it is below") {
  Sharded s(4);
  std::string other;
  const auto [first, second] = two_dead(s, other);
  REQUIRE(s.queue->policy_set("", most(PolicyKey::max_messages, 2)).ok());
  REQUIRE(takes(*s.queue, "a"));
  REQUIRE(takes(*s.queue, other));
  const MessageId both[] = {first, second};
  REQUIRE(answered(s.queue->mutate(both, Action::kick)).changed == 2);
  CHECK(is_well(*s.queue));
  for (int ready = 4; ready > 1; --ready) {
    CHECK(taken_of(*s.another(), 20) == 0);
    REQUIRE(settled(*s.queue, taken(*s.queue, 1).at(0)) == 1);
  }
  CHECK(taken_of(*s.another(), 20) == 1);
  CHECK(is_well(*s.queue));
}

TEST_CASE("what a step keeps is not refused, and counts over all shards") {
  Sharded s(4);
  std::string other;
  one_of_two(s, other);
  const auto bytes = static_cast<int64_t>(sums(*s.queue).bytes);
  REQUIRE(s.queue->policy_set("", most(PolicyKey::max_bytes, bytes + 6)).ok());
  REQUIRE(takes(*s.queue, other, "1"));
  LeaseRequest of_first = for_a_minute();
  of_first.tenant = "a";
  const LeaseReply leased = answered(s.queue->lease(of_first));
  const Delivery& job = leased.deliveries.at(0);
  REQUIRE(s.queue->steps()->keep(job.receipt, "s", as_bytes(std::string_view("1234567"))).ok());
  CHECK(!takes(*s.another(), other, "1"));
  CHECK(is_well(*s.queue));
  REQUIRE(settled(*s.queue, job) == 1);
  CHECK(takes(*s.another(), other, "1"));
  CHECK(is_well(*s.queue));
}

TEST_CASE("a step and a schedule ask for room as a push does") {
  Sharded s(4);
  std::string other;
  one_of_two(s, other);
  REQUIRE(s.queue->policy_set("", most(PolicyKey::max_messages, 3)).ok());
  LeaseRequest of_first = for_a_minute();
  of_first.tenant = "a";
  const LeaseReply leased = answered(s.queue->lease(of_first));
  const Delivery& job = leased.deliveries.at(0);
  const NewMessage child = message_for("a");
  REQUIRE(answered(s.queue->steps()->push(job.receipt, "one", child)).receipt == SettleStatus::ok);
  const Result<StepPush> two = s.queue->steps()->push(job.receipt, "two", child);
  REQUIRE(!two.ok());
  CHECK(two.error().text.find("(max_messages)") != std::string::npos);

  ScheduleDefinition definition;
  definition.name = "s";
  definition.spec = "every 1h";
  definition.message = message_for(other);
  REQUIRE(s.queue->schedules()->set(definition).ok());
  const auto run = s.queue->schedules()->run("s");
  REQUIRE(!run.ok());
  CHECK(run.error().kind == ErrorKind::later);
  REQUIRE(settled(*s.queue, job) == 1);
  CHECK(answered(s.queue->schedules()->run("s")));
  CHECK(is_well(*s.queue));
}

TEST_CASE("a push asks for room only where there is a limit, and for more at once than it needs") {
  Sharded s(4);
  const auto calls_of = [&](int pushes) {
    const uint64_t before = functions_called(s.server);
    for (int i = 0; i < pushes; ++i) push_one(*s.queue, "a", "x");
    return functions_called(s.server) - before;
  };
  push_one(*s.queue, "a", "x");
  CHECK(calls_of(10) == 10);
  REQUIRE(s.queue->policy_set("", most(PolicyKey::max_messages, 1'600)).ok());
  push_one(*s.queue, "a", "x");
  CHECK(calls_of(90) == 90);
  REQUIRE(s.queue->policy_set("", none(PolicyKey::max_messages)).ok());
  CHECK(calls_of(10) == 10);
  CHECK(command(s.server, {"HGET", tag_of(s.server, shard_of(push_one(*s.queue, "a", "x"))) + "h", "lent"})
            .text.size() <= sizeof(double));
}

TEST_CASE("who waits for work is told by the server where only room is limited") {
  Sharded s(4);
  REQUIRE(s.queue->policy_set("", most(PolicyKey::max_messages, 10)).ok());
  Client client(s.server);
  for (size_t each = 0; each < client.shards.count(); ++each)
    client.purses.know(each, command(s.server, {"HGET", client.shards.tag(each) + "h", "lent"}).text);
  CHECK(!client.purses.are_used());
  REQUIRE(s.queue->policy_set("", concurrency(3)).ok());
  client.purses.know(0, command(s.server, {"HGET", client.shards.tag(0) + "h", "lent"}).text);
  CHECK(client.purses.are_used());
}

TEST_CASE("what a shard says it lacks is read only where all of it is there") {
  const auto said = [](const std::string& text) { return lack_in({ErrorKind::later, text, 0}); };
  const auto lack = said("FQSHORT bytes 3 4 50");
  REQUIRE(lack);
  CHECK(lack->what == "bytes");
  CHECK(lack->lacks == 3);
  CHECK(lack->came == 4);
  CHECK(lack->most == 50);
  for (const char* const wrong : {"", "FQSHORT", "FQSHORT bytes", "FQSHORT bytes 3 4", "FQSHORT bytes x 4 5",
                                  "FQSHORT bytes -3 4 5", "FQSHORTER bytes 3 4 5", "FQFULL bytes 3 4"})
    CHECK(!said(wrong));
  CHECK(!lack_in({ErrorKind::io, "FQSHORT bytes 3 4 50", 0}));
}

}  // namespace fq::test
