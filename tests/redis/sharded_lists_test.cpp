// sharded_lists_test - what is listed and told of a queue cut into shards; its schedules and steps.
#include "tests/redis/sharded_fixture.h"

// System.
#include <algorithm>
#include <set>

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
    CHECK(!reader->events(request, page).ok());
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
