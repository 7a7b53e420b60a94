// schedules_test - schedules on a server: who comes at the same time, what is bad, and a memory that is full.

// System.
#include <thread>
// Tests.
#include "tests/redis/on_cluster.h"

namespace fq::test {

namespace {

constexpr std::string_view kSchedules = "fq1:fq:{default:0:0}:sd";

ScheduleDefinition every_minute(const char* name = "s") {
  ScheduleDefinition definition;
  definition.name = name;
  definition.spec = "every 1m";
  definition.message.payload = as_bytes("tick");
  return definition;
}

}  // namespace

TEST_CASE("of all that come when a time is due one makes its message", "[threads]") {
  const TestServer server;
  FakeClock clock;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  ScheduleDefinition definition = every_minute();
  definition.missed = MissedRule::all;
  definition.overlap = OverlapRule::queue;
  REQUIRE(queue->schedules()->set(definition).ok());
  clock.advance(20 * 60'000);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const auto other = open_on(told_time_engine(), server.spool(), &clock);
      static_cast<void>(other->maintain(10));
    });
  }
  for (std::thread& each : threads) each.join();
  const StatsRow row = answered(queue->stats({})).rows.at(0);
  CHECK(row.pushed == 20);
  CHECK(row.schedules == 1);
  CHECK(row.next_schedule_wall_ms == clock.wall_ms() + 60'000);
}

TEST_CASE("who makes up for the times of a long stop serves what is there meanwhile, and goes on with them") {
  const uint32_t shards = GENERATE(1U, 4U);
  CAPTURE(shards);
  const TestServer server;
  FakeClock clock;
  REQUIRE(answered(told_time_engine().create({server.spool(), "default"}, {.shards = shards})));
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  ScheduleDefinition definition = every_minute();
  definition.missed = MissedRule::all;
  definition.overlap = OverlapRule::queue;
  REQUIRE(queue->schedules()->set(definition).ok());
  // Beside it in whatever shard that lies.
  for (int i = 0; i < 6; ++i) push_one(*queue, "tenant-" + std::to_string(i), "important");
  clock.advance(90LL * 24 * 60 * 60'000);
  uint64_t made = 0;
  for (int i = 0; i < 6; ++i) {
    const std::string tenant = "tenant-" + std::to_string(i);
    LeaseRequest request = for_a_minute();
    request.tenant = tenant;
    const LeaseReply taken = answered(queue->lease(request));
    REQUIRE(taken.deliveries.size() == 1);
    CHECK(ack(*queue, taken.deliveries[0]) == SettleStatus::ok);
    const uint64_t before = std::exchange(made, answered(queue->stats({})).rows.at(0).pushed - 6);
    if (shards == 1) CHECK(made >= before + 64);
  }
  CHECK(made > 64);
}

TEST_CASE("a time for which a server has no memory is kept, and made when it has") {
  const TestServer server;
  FakeClock clock;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  REQUIRE(queue->schedules()->set(every_minute()).ok());
  clock.advance(60'000);
  const std::string now = std::to_string(clock.boot_ms());  // told by nobody while the memory is full
  command(server, {"HSET", "fq1:fq:{default:0:0}:h", "clock", now});
  command(server, {"CONFIG", "SET", "maxmemory", "1"});
  CHECK(answered(queue->lease(for_a_minute())).deliveries.empty());
  CHECK(answered(queue->schedules()->get("s"))->refused);
  command(server, {"CONFIG", "SET", "maxmemory", "256mb"});
  clock.advance(1'000);
  const LeaseReply made = answered(queue->lease(for_a_minute()));
  REQUIRE(made.deliveries.size() == 1);
  CHECK(made.deliveries[0].scheduled_at_wall_ms == clock.wall_ms() - 1'000);
  CHECK_FALSE(answered(queue->schedules()->get("s"))->refused);
}

TEST_CASE("a draining queue and one that is full keep a time for later") {
  const TestServer server;
  FakeClock clock;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  REQUIRE(queue->schedules()->set(every_minute()).ok());
  const bool drains = GENERATE(true, false);
  push_one(*queue, "t", "x");
  const PolicyKey key = drains ? PolicyKey::draining : PolicyKey::max_messages;
  REQUIRE(queue->policy_set("", {{{key, 1, 0, {}}}, {}}).ok());
  clock.advance(60'000);
  REQUIRE(queue->maintain(10).ok());
  CHECK(answered(queue->schedules()->get("s"))->refused);
  CHECK(answered(queue->stats({})).rows.at(0).ready == 1);
  REQUIRE(queue->policy_set("", {{}, {key}}).ok());
  clock.advance(1'000);
  REQUIRE(queue->maintain(10).ok());
  CHECK(answered(queue->stats({})).rows.at(0).ready == 2);
}

TEST_CASE("one that cannot be read is in nobody's way, and named") {
  const TestServer server;
  FakeClock clock;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  REQUIRE(queue->schedules()->set(every_minute("bad")).ok());
  REQUIRE(queue->schedules()->set(every_minute("good")).ok());
  std::string record = command(server, {"HGET", kSchedules, "bad"}).text;
  record[8] = 99;  // its rule for what was missed
  command(server, {"HSET", kSchedules, "bad", record});
  clock.advance(60'000);
  CHECK(answered(queue->lease(for_a_minute(5))).deliveries.size() == 1);
  CHECK(queue->schedules()->get("bad").error().text.find("cannot be read") != std::string::npos);
  CHECK(queue->schedules()->remove("bad").error().kind == ErrorKind::bad_data);
}

TEST_CASE("a message knows its schedule when it is edited, has ended, and in the log") {
  const TestServer server;
  FakeClock clock;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  ScheduleDefinition definition = every_minute();
  definition.message.command = JobCommand{{"true"}, "/", {"SECRET=1"}};
  definition.message.payload = {};
  REQUIRE(queue->schedules()->set(definition).ok());
  const MessageId id = answered(queue->schedules()->run("s")).value();
  MessagePatch patch;
  patch.priority = 3;
  CHECK(answered(queue->edit(id, patch)) == SettleStatus::ok);
  const LeaseReply reply = answered(queue->lease(for_a_minute()));
  Settle ack;
  ack.receipt = reply.deliveries.at(0).receipt;
  CHECK(answered(queue->settle({&ack, 1})).items.at(0) == SettleStatus::ok);
  const MessageInfo info = answered(queue->get(id)).value();
  CHECK(info.schedule == "s");
  CHECK(info.command->argv == std::vector<std::string>{"true"});
  CHECK(info.command->env.empty());
  EventPage page;
  REQUIRE(queue->events({}, page).ok());
  REQUIRE(page.events.size() >= 2);
  CHECK(page.events[0].event == "scheduled");
  CHECK(page.events[0].schedule == "s");
  CHECK(page.events[1].event == "pushed");
  CHECK(page.events[1].schedule == "s");
}

}  // namespace fq::test
