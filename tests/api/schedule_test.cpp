// schedule_test - messages that are made again and again, at times, exactly once each.
#include "tests/api/schedules_scene.h"

// fq, below us.
#include "core/base/text/wall_time.h"

namespace fq::test {

namespace {

constexpr int64_t kMinuteMs = 60'000;
constexpr int64_t kHourMs = 60 * kMinuteMs;

void set(QueueFixture& q, const ScheduleDefinition& definition) {
  const Result<void> done = schedules(q).set(definition);
  if (!done.ok()) FAIL(done.error().text);
}
ScheduleInfo info(QueueFixture& q, const char* name = "s") { return schedules(q).get(name).value().value(); }

void set_overlapping(QueueFixture& q, OverlapRule rule) {
  ScheduleDefinition definition = every("10m");
  definition.overlap = rule;
  set(q, definition);
}
/// Its next message, leased for an hour: unfinished when the one after that is due.
Delivery take_next(QueueFixture& q) {
  q.clock().advance(10 * kMinuteMs);
  LeaseReply leased = q.lease_all(timed_lease(1, kHourMs));
  REQUIRE(leased.deliveries.size() == 1);
  return std::move(leased.deliveries[0]);
}

/// Leases all there is and acks it: when each was due, in minutes since `from`.
std::string due_times(QueueFixture& q, int64_t from) {
  std::string text;
  for (;;) {
    const LeaseReply reply = q.lease_all(timed_lease());
    if (reply.deliveries.empty()) return text;
    const Delivery& one = reply.deliveries[0];
    text += one.schedule + std::to_string((one.scheduled_at_wall_ms - from) / kMinuteMs) + " ";
    q.ack(one);
  }
}

}  // namespace

TEST_CASE("each time of a schedule makes one message, which tells of it") {
  WHERE_SCHEDULES_ARE(q);
  const int64_t from = q.clock().wall_ms();
  ScheduleDefinition definition = every("10m");
  definition.message.tenant = "acme";
  definition.message.tags = {{"kind", "tick"}};
  set(q, definition);
  CHECK(q.served() == "");
  q.clock().advance(10 * kMinuteMs);
  const Delivery one = q.lease();
  CHECK(payload_of(one) == "tick");
  CHECK(one.tenant == "acme");
  CHECK(one.schedule == "s");
  CHECK(one.scheduled_at_wall_ms == from + 10 * kMinuteMs);
  CHECK(one.tags == std::vector<Tag>{{"kind", "tick"}});
  const MessageInfo message = q.get(one.id);
  CHECK(message.schedule == "s");
  CHECK(message.scheduled_at_wall_ms == from + 10 * kMinuteMs);
  CHECK(q.served() == "");
  q.ack(one);
  q.clock().advance(10 * kMinuteMs + 1);
  CHECK(due_times(q, from) == "s20 ");
}

TEST_CASE("of times that passed while nobody was there, one makes the latest, all each, skip none") {
  WHERE_SCHEDULES_ARE(q);
  const int64_t from = q.clock().wall_ms();
  const std::pair<MissedRule, std::string> rules[] = {
      {MissedRule::one, "s50 "}, {MissedRule::all, "s10 s20 s30 s40 s50 "}, {MissedRule::skip, ""}};
  const auto& [rule, wanted] = rules[GENERATE(0, 1, 2)];
  ScheduleDefinition definition = every("10m");
  definition.missed = rule;
  definition.overlap = OverlapRule::queue;
  set(q, definition);
  q.clock().advance(55 * kMinuteMs);
  CHECK(due_times(q, from) == wanted);
  CHECK(info(q).last_wall_ms == from + 50 * kMinuteMs);
  CHECK(info(q).last == (rule == MissedRule::skip ? Occurrence::missed : Occurrence::made));
  q.clock().advance(5 * kMinuteMs + 999);
  CHECK(due_times(q, from) == "s60 ");
}

TEST_CASE("a time that passed a second ago has not been missed, one more than that has") {
  WHERE_SCHEDULES_ARE(q);
  const int64_t late_ms = GENERATE(1000, 1001);
  const int64_t from = q.clock().wall_ms();
  ScheduleDefinition definition = every("10m");
  definition.missed = MissedRule::skip;
  set(q, definition);
  q.clock().advance(10 * kMinuteMs + late_ms);
  CHECK(due_times(q, from) == (late_ms == 1000 ? "s10 " : ""));
  CHECK(info(q).last == (late_ms == 1000 ? Occurrence::made : Occurrence::missed));
}

TEST_CASE("while the one before is unfinished, skip makes none") {
  WHERE_SCHEDULES_ARE(q);
  set_overlapping(q, OverlapRule::skip);
  const Delivery one = take_next(q);
  q.clock().advance(10 * kMinuteMs);
  CHECK(q.served() == "");
  CHECK(info(q).last == Occurrence::overlap);
  CHECK(info(q).last_id == one.id);
  q.ack(one);
  CHECK(q.served() == "");
  q.clock().advance(10 * kMinuteMs);
  CHECK(q.served() == "tick");
}

TEST_CASE("while the one before is unfinished, queue holds the next until it has ended") {
  WHERE_SCHEDULES_ARE(q);
  set_overlapping(q, OverlapRule::queue);
  const Delivery one = take_next(q);
  q.clock().advance(10 * kMinuteMs);
  CHECK(q.served() == "");
  CHECK(q.stats().held == 1);
  q.bury(one);
  CHECK(q.served() == "tick");
}

TEST_CASE("while the one before is unfinished, cancel cancels that one") {
  WHERE_SCHEDULES_ARE(q);
  set_overlapping(q, OverlapRule::cancel);
  const Delivery one = take_next(q);
  q.clock().advance(10 * kMinuteMs);
  const Delivery other = q.lease();
  CHECK(number(other.id) > number(one.id));
  CHECK(q.get(one.id).state == State::cancelled);
  CHECK(is_refused(q.ack(one)));
}

TEST_CASE(
    "who runs the one before hears that it was cancelled, also where the next one is of its own making") {
  WHERE_SCHEDULES_ARE(q);
  set_overlapping(q, OverlapRule::cancel);
  LeaseRequest request = timed_lease();
  request.hold = Hold::process;
  request.watch = true;
  CHECK(q.lease_all(request).changes.empty());  // from now on only what it is told of is looked at
  q.clock().advance(10 * kMinuteMs);
  const LeaseReply leased = q.lease_all(request);
  REQUIRE(leased.deliveries.size() == 1);
  q.clock().advance(10 * kMinuteMs);
  REQUIRE(q.door().maintain(10).ok());
  request.want = 0;
  const LeaseReply told = q.lease_all(request);
  REQUIRE(told.changes.size() == 1);
  CHECK(told.changes[0].receipt == leased.deliveries[0].receipt);
  CHECK(told.changes[0].what == LeaseChange::What::cancelled);
}

TEST_CASE("where the next one finds no room the one before is not cancelled, and goes where it does") {
  WHERE_SCHEDULES_ARE(q);
  if (q.door().caps().tells_timers) return;  // the model knows no limits
  set_overlapping(q, OverlapRule::cancel);
  const Delivery one = take_next(q);
  q.push("other", "x");
  const auto next_is_due = [&] {
    q.clock().advance(10 * kMinuteMs);
    REQUIRE(q.door().maintain(10).ok());
  };
  SECTION("draining") {
    q.set("", PolicyKey::draining, 1);
    next_is_due();
    CHECK(info(q).refused);
    CHECK(q.get(one.id).state == State::leased);
    q.unset("", PolicyKey::draining);
    next_is_due();
  }
  SECTION("full of others") {
    q.set("", PolicyKey::max_messages, 1);
    next_is_due();
    CHECK(info(q).refused);
    CHECK(q.get(one.id).state == State::leased);
    q.set("", PolicyKey::max_messages, 3);
    next_is_due();
  }
  SECTION("full of itself: its room is the next one's") {
    q.set("", PolicyKey::max_messages, 2);
    q.set("", PolicyKey::max_bytes, 5);
    next_is_due();
    CHECK_FALSE(info(q).refused);
  }
  CHECK(q.get(one.id).state == State::cancelled);
  CHECK(is_refused(q.ack(one)));
  CHECK(q.stats().ready == 2);
}

TEST_CASE("what a schedule makes keeps to the order that its queue has by then") {
  WHERE_SCHEDULES_ARE(q);
  if (q.door().caps().tells_timers) return;  // the model keeps what it was told
  const bool by_key = GENERATE(false, true);
  q.set_policy([&](Settings& s) { s.order = by_key ? Order::key : Order::priority; });
  ScheduleDefinition definition = every("10m");
  if (by_key) definition.message.key = "a";
  if (!by_key) definition.message.priority = 9;
  set(q, definition);
  q.push("default", "first", {.key = by_key ? "b" : ""});
  q.clock().advance(10 * kMinuteMs);
  CHECK(q.pop() == "tick");
  CHECK(q.pop() == "first");
  q.set_policy([](Settings& s) { s.order = Order::fifo; });
  q.push("default", "first");
  q.clock().advance(10 * kMinuteMs);
  CHECK(q.pop() == "first");
  const Delivery other = q.lease();
  CHECK(other.priority == 0);
  CHECK(q.get(other.id).key.empty());
}

TEST_CASE("a dead message is finished: the next time makes one") {
  WHERE_SCHEDULES_ARE(q);
  set(q, every("10m"));
  q.clock().advance(10 * kMinuteMs);
  q.bury(q.lease());
  q.clock().advance(10 * kMinuteMs);
  CHECK(q.served() == "tick");
}

TEST_CASE("a paused schedule makes none, and what passed in the pause is not made up") {
  WHERE_SCHEDULES_ARE(q);
  const int64_t from = q.clock().wall_ms();
  set(q, every("10m"));
  CHECK(schedules(q).pause("s", true).value());
  CHECK(info(q).paused);
  CHECK(info(q).next_wall_ms.empty());
  q.clock().advance(35 * kMinuteMs);
  CHECK(due_times(q, from) == "");
  CHECK(schedules(q).pause("s", false).value());
  CHECK(due_times(q, from) == "");
  q.clock().advance(5 * kMinuteMs);
  CHECK(due_times(q, from) == "s40 ");
  CHECK_FALSE(schedules(q).pause("nobody", true).value());
}

TEST_CASE("run makes one now, paused or not, and leaves the times as they are") {
  WHERE_SCHEDULES_ARE(q);
  const int64_t from = q.clock().wall_ms();
  set(q, every("10m"));
  schedules(q).pause("s", true).value();
  q.clock().advance(3 * kMinuteMs);
  const MessageId id = schedules(q).run("s").value().value();
  CHECK(info(q).last_id == id);
  CHECK(due_times(q, from) == "s3 ");
  schedules(q).pause("s", false).value();
  q.clock().advance(7 * kMinuteMs);
  CHECK(due_times(q, from) == "s10 ");
  CHECK_FALSE(schedules(q).run("nobody").value());
}

TEST_CASE("set again with the same spec keeps the grid, with another one begins anew") {
  WHERE_SCHEDULES_ARE(q);
  const int64_t from = q.clock().wall_ms();
  set(q, every("10m"));
  q.clock().advance(7 * kMinuteMs);
  ScheduleDefinition definition = every("10m");
  definition.message.payload = as_bytes("tock");
  set(q, definition);
  q.clock().advance(3 * kMinuteMs);
  CHECK(q.served() == "tock");
  q.clock().advance(2 * kMinuteMs);
  set(q, every("11m"));
  CHECK(info(q).next_wall_ms.at(0) == from + 23 * kMinuteMs);
}

TEST_CASE("the next three times are told, over a clock change too") {
  WHERE_SCHEDULES_ARE(q);
  q.clock().advance(*parse_wall_time("2024-03-30T12:00:00Z", 0) - q.clock().wall_ms());
  ScheduleDefinition definition = every("1s");
  definition.spec = "30 2 * * *";
  definition.zone = "Europe/Berlin";
  set(q, definition);
  std::string text;
  for (const int64_t at : info(q).next_wall_ms) text += format_wall_time(at).substr(0, 16) + " ";
  CHECK(text == "2024-03-31T01:00 2024-04-01T00:30 2024-04-02T00:30 ");
}

TEST_CASE("a schedule that was removed makes no more") {
  WHERE_SCHEDULES_ARE(q);
  set(q, every("10m"));
  CHECK(schedules(q).remove("s").value());
  CHECK_FALSE(schedules(q).remove("s").value());
  q.clock().advance(kHourMs);
  CHECK(q.served() == "");
  CHECK(schedules(q).list({}, 10)->schedules.empty());
}

TEST_CASE("what the file names is there, what it does not name any more goes, what was set by hand stays") {
  WHERE_SCHEDULES_ARE(q);
  set(q, every("10m", "mine"));
  const std::vector<ScheduleDefinition> both = {every("20m", "a"), every("30m", "mine")};
  REQUIRE(schedules(q).load(both).ok());
  CHECK(info(q, "a").of_file);
  CHECK(info(q, "mine").spec == "every 10m");
  CHECK(schedules(q).remove("a").error().kind == ErrorKind::usage);
  REQUIRE(schedules(q).load({}).ok());
  CHECK_FALSE(schedules(q).get("a").value());
  CHECK(schedules(q).get("mine").value());
}

TEST_CASE("a time that a full or draining queue refuses is kept, and made when there is room") {
  WHERE_SCHEDULES_ARE(q);
  if (q.door().caps().tells_timers) return;  // the model knows no limits
  const int64_t from = q.clock().wall_ms();
  set(q, every("10m"));
  q.push("other", "x");
  const bool drains = GENERATE(false, true);
  q.set("", drains ? PolicyKey::draining : PolicyKey::max_messages, 1);
  q.clock().advance(10 * kMinuteMs);
  REQUIRE(q.door().maintain(10).ok());
  CHECK(info(q).refused);
  CHECK(q.stats().ready == 1);
  q.clock().advance(kMinuteMs);
  if (drains) q.unset("", PolicyKey::draining);
  CHECK(q.pop() == "x");
  q.clock().advance(kMinuteMs);
  CHECK(due_times(q, from) == "s10 ");
  CHECK_FALSE(info(q).refused);
}

TEST_CASE("a clock that is set forward makes what it has passed, one that is set back makes nothing twice") {
  WHERE_SCHEDULES_ARE(q);
  const int64_t from = q.clock().wall_ms();
  ScheduleDefinition definition = every("10m");
  definition.missed = MissedRule::all;
  definition.overlap = OverlapRule::queue;
  set(q, definition);
  q.set_wall_ms(from + 25 * kMinuteMs);
  CHECK(due_times(q, from) == "s10 s20 ");
  q.set_wall_ms(from + 5 * kMinuteMs);
  q.clock().advance(20 * kMinuteMs);
  CHECK(due_times(q, from) == "");
  q.clock().advance(5 * kMinuteMs);
  CHECK(due_times(q, from) == "s30 ");
}

TEST_CASE("a waiting consumer wakes for a schedule") {
  ON_EVERY_ENGINE_WITH(q, Time::real);
  if (q.door().schedules() == nullptr) return;
  set(q, every("1s"));
  LeaseRequest request = timed_lease();
  request.wait = true;
  request.wait_ms = 20'000;
  CHECK(q.lease_all(request).deliveries.size() == 1);
}

}  // namespace fq::test
