// sharded_lists_test - what is listed and told of a queue cut into shards; its schedules and steps.

// System.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>
// fq, below us.
#include "core/redis/waits/root_hints.h"
// Tests.
#include "tests/redis/relay.h"
#include "tests/redis/sharded_fixture.h"

namespace fq::test {

TEST_CASE("lists over shards have all of it once, in their order, page after page") {
  Sharded s;
  std::set<uint64_t> pushed;
  for (int i = 0; i < 90; ++i) pushed.insert(number(push_one(*s.queue, "t" + std::to_string(i % 30), "x")));
  std::vector<uint64_t> selected, peeked, buried;
  for (Cursor from;;) {
    const IdPage page = answered(s.queue->select({}, from, 7));
    for (const MessageId id : page.ids) selected.push_back(number(id));
    from = page.next;
    if (from.text.empty()) break;
  }
  CHECK(std::is_sorted(selected.begin(), selected.end()));
  CHECK(std::set(selected.begin(), selected.end()) == pushed);
  CHECK(selected.size() == pushed.size());
  for (Cursor from;;) {
    const MessagePage page = answered(s.queue->peek({}, from, 7));
    for (const MessageInfo& each : page.messages) peeked.push_back(number(each.id));
    from = page.next;
    if (from.text.empty()) break;
  }
  CHECK(std::set(peeked.begin(), peeked.end()) == pushed);
  CHECK(peeked.size() == pushed.size());
  for (const char* text : {"99:", "x", "3", "3:zz", "-1:"}) CHECK(!s.queue->peek({}, {text}, 7).ok());
  const LeaseReply all = answered(s.queue->lease(for_a_minute(90)));
  std::vector<Settle> buries;
  for (const Delivery& each : all.deliveries)
    buries.push_back({.receipt = each.receipt, .verdict = Verdict::bury});
  REQUIRE(answered(s.queue->settle(buries)).items.size() == 90);
  int64_t last_ms = INT64_MAX;
  for (Cursor from;;) {
    const MessagePage page = answered(s.queue->ended({}, from, 7));
    for (const MessageInfo& each : page.messages) {
      buried.push_back(number(each.id));
      CHECK(each.ended_at_wall_ms.value() <= last_ms);
      last_ms = *each.ended_at_wall_ms;
    }
    from = page.next;
    if (from.text.empty()) break;
  }
  CHECK(std::set(buried.begin(), buried.end()) == pushed);
  CHECK(buried.size() == pushed.size());
  uint64_t kicked = 0;
  for (Cursor from;;) {
    const MutateReply page = answered(s.queue->mutate(Filter{}, Action::kick, from, 11));
    kicked += page.changed;
    from = page.next;
    if (from.text.empty()) break;
  }
  CHECK(kicked == 90);
}

TEST_CASE(
    "events of all shards are told once and in the order of their times, to whoever goes on from a cursor") {
  Sharded s;
  std::multiset<std::string> expected, told;
  for (int i = 0; i < 60; ++i)
    expected.insert("pushed " +
                    std::to_string(number(push_one(*s.queue, "t" + std::to_string(i % 20), "x"))));
  for (const Delivery& each : answered(s.queue->lease(for_a_minute(30))).deliveries)
    expected.insert("leased " + std::to_string(number(each.id)));
  const bool same_reader = GENERATE(true, false);
  std::unique_ptr<Queue> reader = s.another();
  int64_t last_ms = 0;
  EventRequest request;
  request.n = 7;
  EventPage page;
  do {
    if (!same_reader) reader = s.another();
    REQUIRE(reader->events(request, page).ok());
    for (const Event& event : page.events) {
      told.insert(std::string(event.event) + " " + std::to_string(number(event.id)));
      CHECK(event.at_wall_ms >= last_ms);
      last_ms = event.at_wall_ms;
    }
    request.from = page.next;
    CHECK(page.next.text.size() <= 64);
  } while (!page.at_end);
  CHECK(told == expected);
  push_one(*s.queue, "more", "x");
  REQUIRE(reader->events(request, page).ok());
  CHECK(page.events.size() == 1);
  for (const char* text : {"x", "1:2", "99:1:-.0", "1:1:-", "1:1:", "1:-1:-.0"}) {
    request.from.text = text;
    for (int twice = 0; twice < 2; ++twice) CHECK(!reader->events(request, page).ok());
  }
}

TEST_CASE("events of all shards are told once, whichever look at a shard is refused meanwhile") {
  Sharded s;
  int calls = 0, refused = 0;
  Relay relay(s.server, [&](const std::string& asked) {
    const bool is_it = asked.find("_look\r\n") != std::string::npos && ++calls == refused;
    return is_it ? std::string("-NOPERM it may not\r\n") : std::string();
  });
  const auto reader = open_on(real_time_engine(), relay.spool());
  EventRequest request;
  request.n = 100;
  EventPage page;
  int failures = 0;
  for (int round = 1; round <= 12; ++round) {
    std::multiset<uint64_t> expected, told;
    for (int i = 0; i < 6; ++i) expected.insert(number(push_one(*s.queue, "t" + std::to_string(i), "x")));
    calls = 0, refused = round;
    do {
      const Result<void> read = reader->events(request, page);
      if (!read) ++failures, refused = 0;
      if (!read) continue;
      for (const Event& event : page.events) told.insert(number(event.id));
      request.from = page.next;
    } while (!page.at_end || told.size() < expected.size());
    CHECK(told == expected);
  }
  CHECK(failures >= 8);
}

TEST_CASE(
    "where the clock of one shard is ahead who wants what has happened does not wait for the "
    "others") {
  Sharded s(4);
  std::string other;
  const auto [first, second] = two_apart(*s.queue, other);
  EventRequest request;
  request.n = 1'000;
  EventPage page;
  do {
    REQUIRE(s.queue->events(request, page).ok());
    request.from = page.next;
  } while (!page.at_end);
  const std::string ahead = std::to_string(clock_ms_in(command(s.server, {"TIME"})) + 25'000);
  command(s.server, {"HSET", tag_of(s.server, shard_of(first)) + "h", "now", ahead});
  const MessageId of_the_future = push_one(*s.queue, "a", "x"), of_now = push_one(*s.queue, other, "x");
  SECTION("who follows is told what is of now, and waits for the rest") {
    request.wait = true;
    request.wait_ms = 500;
    REQUIRE(s.queue->events(request, page).ok());
    REQUIRE(page.events.size() == 1);
    CHECK(page.events[0].id == of_now);
  }
  SECTION("else all of it is told") {
    std::vector<MessageId> told;
    const int64_t begin_ms = system_clock().boot_ms();
    do {
      REQUIRE(s.queue->events(request, page).ok());
      for (const Event& event : page.events) told.push_back(event.id);
      request.from = page.next;
    } while (!page.at_end);
    CHECK(system_clock().boot_ms() - begin_ms < 10'000);
    CHECK(told == std::vector{of_now, of_the_future});
  }
}

TEST_CASE("a schedule has its name in all shards, and makes its messages in one") {
  Sharded s;
  std::string other;
  two_apart(*s.queue, other);
  Schedules& schedules = *s.queue->schedules();
  ScheduleDefinition definition;
  definition.name = "tick";
  definition.spec = "@daily";
  definition.message = message_for("a");
  REQUIRE(schedules.set(definition).ok());
  definition.message = message_for(other);
  CHECK(schedules.set(definition).error().kind == ErrorKind::usage);
  definition.name = "tock";
  REQUIRE(schedules.set(definition).ok());
  std::string names;
  for (const ScheduleInfo& each : answered(schedules.list({}, 10)).schedules) names += each.name + " ";
  CHECK(names == "tick tock ");
  const auto id = answered(schedules.run("tock"));
  REQUIRE(id);
  CHECK(answered(s.queue->get(*id))->tenant == other);
  CHECK(answered(schedules.remove("tick")));
  CHECK(!answered(schedules.remove("tick")));
  CHECK(!answered(schedules.get("tick")));
}

TEST_CASE("of two who set schedules of one name for accounts of two shards at once neither has both") {
  Sharded s;
  std::string other;
  const auto [first, second] = two_apart(*s.queue, other);
  const std::string here = tag_of(s.server, shard_of(first)) + "sd";
  const std::string there = tag_of(s.server, shard_of(second)) + "sd";
  Schedules& schedules = *s.queue->schedules();
  ScheduleDefinition definition;
  definition.name = "tick";
  definition.spec = "@daily";
  definition.message = message_for(other);
  REQUIRE(schedules.set(definition).ok());
  const std::string record = command(s.server, {"HGET", there, "tick"}).text;
  REQUIRE(answered(schedules.remove("tick")));
  bool is_first = true;
  Relay relay(s.server, [&](const std::string& asked) {
    if (asked.find("_arrange\r\n") != std::string::npos && std::exchange(is_first, false))
      command(s.server, {"HSET", there, "tick", record});
    return std::string();
  });
  const auto queue = open_on(real_time_engine(), relay.spool());
  definition.message = message_for("a");
  const Result<void> set = queue->schedules()->set(definition);
  REQUIRE(!set.ok());
  CHECK(set.error().kind == ErrorKind::usage);
  CHECK(!is_first);
  CHECK(command(s.server, {"HEXISTS", here, "tick"}).number == 0);
  CHECK(command(s.server, {"HEXISTS", there, "tick"}).number == 1);
  // Of two that were let through before, none is left behind.
  command(s.server, {"HSET", here, "tick", record});
  CHECK(answered(schedules.remove("tick")));
  CHECK(!answered(schedules.get("tick")));
}

TEST_CASE("a step pushes and waits in its own account") {
  Sharded s;
  std::string other;
  const auto [first, second] = two_apart(*s.queue, other);
  LeaseRequest request = for_a_minute();
  request.tenant = "a";
  const Receipt receipt = answered(s.queue->lease(request)).deliveries.at(0).receipt;
  Steps& steps = *s.queue->steps();
  CHECK(steps.push(receipt, "child", message_for(other)).error().kind == ErrorKind::usage);
  const StepPush pushed = answered(steps.push(receipt, "child", message_for("a/below")));
  CHECK(shard_of(pushed.child) == shard_of(first));
  CHECK(steps.wait(receipt, "w", std::span(&second, 1)).error().kind == ErrorKind::usage);
  CHECK(answered(steps.wait(receipt, "w", std::span(&pushed.child, 1))).receipt == SettleStatus::ok);
}

}  // namespace fq::test
