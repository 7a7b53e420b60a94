// clock_test - a server's clock that was ahead and is set right, or another server that takes over with one.

// System.
#include <algorithm>
#include <cstdlib>
// fq, below us.
#include "core/redis/waits/root_hints.h"
#include "core/redis/waits/shard_time.h"
// Tests.
#include "tests/redis/fixture.h"
#include "tests/redis/shared_rate.h"
#include "tests/redis/waiter.h"

namespace fq::test {

namespace {

constexpr int64_t kCallsMs = 20'000, kMinuteMs = 60'000, kHourMs = 60 * kMinuteMs, kDayMs = 24 * kHourMs;

/// A queue on a server whose clock is told, and was ahead.
struct TurnedBack {
  TurnedBack() {
    clock.advance(40 * kDayMs);
    push_one(*queue, "first", "x");
    CHECK(taken() == 1);
  }
  /// Somebody calls again and again meanwhile.
  void pass(int64_t ms) {
    for (; ms > 0; ms -= kCallsMs) {
      clock.advance(std::min(ms, kCallsMs));
      answered(queue->maintain(1));
    }
  }
  /// It is set right.
  void turn_back(int64_t ms = kHourMs) { clock.advance(-ms); }
  size_t taken() { return answered(queue->lease(for_a_minute(10))).deliveries.size(); }
  void push_in(int64_t delay_ms) {
    NewMessage message;
    message.delay_ms = delay_ms;
    answered(queue->push({&message, 1}));
  }
  void set_schedule(const char* name, const char* spec, MissedRule missed) {
    ScheduleDefinition definition;
    definition.name = name;
    definition.spec = spec;
    definition.missed = missed;
    definition.overlap = OverlapRule::queue;
    definition.message.payload = as_bytes("tick");
    REQUIRE(queue->schedules()->set(definition).ok());
  }
  int64_t root_number(const char* field) {
    return std::stoll(command(server, {"HGET", "fq1:fq:{default:0:0}:h", field}).text);
  }

  const TestServer server;
  FakeClock clock;
  const std::unique_ptr<Queue> queue = open_on(told_time_engine(), server.spool(), &clock);
};

Reply text_reply(std::string text) {
  Reply reply;
  reply.kind = Reply::Kind::text;
  reply.text = std::move(text);
  return reply;
}

}  // namespace

TEST_CASE("a delay goes on where the server's clock is set back, a little slower") {
  TurnedBack s;
  s.push_in(15'000);
  s.turn_back();
  s.clock.advance(8'000);
  CHECK(s.taken() == 0);  // that call finds it
  s.clock.advance(15'000);
  CHECK(s.taken() == 0);
  s.clock.advance(1'000);
  CHECK(s.taken() == 1);
}

TEST_CASE("a lease goes on where the server's clock is set back") {
  TurnedBack s;
  s.turn_back();
  CHECK(s.taken() == 0);
  s.pass(64'001);
  const LeaseReply again = answered(s.queue->lease(for_a_minute()));
  REQUIRE(again.deliveries.size() == 1);
  CHECK(again.deliveries[0].crashes == 1);
}

TEST_CASE("the time of a shard never goes back, and is the clock's again once that has caught up") {
  TurnedBack s;
  int64_t before = s.root_number("now");
  for (const int64_t back_ms : {kHourMs, kHourMs / 2, int64_t{1}}) {
    s.turn_back(back_ms);
    for (int i = 0; i < 20; ++i) {
      s.taken();
      CHECK(s.root_number("now") >= before);
      before = s.root_number("now");
      s.clock.advance(i * i);
    }
  }
  CHECK(s.root_number("now") > s.clock.boot_ms());
  for (int i = 0; i < 25; ++i) s.pass(kHourMs);
  s.taken();
  CHECK(s.root_number("now") == s.clock.boot_ms());
  CHECK(command(s.server, {"HGET", "fq1:fq:{default:0:0}:h", "lead"}).text.empty());
}

TEST_CASE("what is to come at a time of the clock comes at that, although the clock was ahead") {
  TurnedBack s;
  s.turn_back();
  s.taken();
  NewMessage message;
  message.at_wall_ms = s.clock.wall_ms() + 3 * kMinuteMs;
  const bool is_edited = GENERATE(false, true);
  if (is_edited) message.at_wall_ms = s.clock.wall_ms() + 1'000;
  const MessageId id = answered(s.queue->push({&message, 1})).items.at(0).id;
  MessagePatch patch;
  patch.at_wall_ms = s.clock.wall_ms() + 3 * kMinuteMs;
  if (is_edited) CHECK(answered(s.queue->edit(id, patch)) == SettleStatus::ok);
  const auto is_taken = [&] {
    const LeaseReply reply = answered(s.queue->lease(for_a_minute(10)));
    return std::any_of(reply.deliveries.begin(), reply.deliveries.end(),
                       [&](const Delivery& each) { return each.id == id; });
  };
  s.pass(3 * kMinuteMs - 2);
  CHECK_FALSE(is_taken());
  s.clock.advance(2);
  CHECK(is_taken());
}

TEST_CASE("what leaves a shard that is ahead comes by the clock where it goes, and where it comes from") {
  TurnedBack c;
  c.push_in(10 * kMinuteMs);
  const MessageId id = answered(c.queue->select({}, {}, 10)).ids.at(1);
  c.turn_back();
  c.pass(kCallsMs);
  const auto left_ms = [&c](Queue& queue, MessageId of) {
    return answered(queue.get(of))->due_at_wall_ms.value() - c.clock.wall_ms();
  };
  const ExportedMessage exported = answered(c.queue->exported(id)).value();
  const int64_t by_clock_ms = exported.since_wall_ms - c.clock.wall_ms();
  CHECK(std::abs(by_clock_ms - 10 * kMinuteMs) <= kMinuteMs);
  const ImportReply back = answered(c.queue->import_messages({&exported, 1}, "elsewhere"));
  CHECK(std::abs(left_ms(*c.queue, back.items.at(0).id) - left_ms(*c.queue, id)) <= kMinuteMs);
  OpenOptions options;
  options.create = true;
  options.clock = &c.clock;
  const auto other = answered(told_time_engine().open({c.server.spool(), "other"}, options));
  answered(other->stats({}));  // its server is told the time
  const MoveReply moved = answered(c.queue->move({&id, 1}, {"other", ""}));
  INFO((moved.error ? moved.error->text : ""));
  REQUIRE(moved.items.size() == 1);
  REQUIRE(moved.items[0].what == MoveResult::What::moved);
  CHECK(std::abs(left_ms(*other, moved.items[0].id_there) - 10 * kMinuteMs) <= kMinuteMs);
}

TEST_CASE("a schedule comes at its times although the server's clock was ahead for an hour") {
  TurnedBack s;
  s.turn_back();
  s.taken();
  s.set_schedule("s", "every 5m", MissedRule::one);
  const int64_t set_wall_ms = s.clock.wall_ms();
  s.pass(5 * kMinuteMs - 1);
  REQUIRE(s.queue->maintain(10).ok());
  CHECK_FALSE(answered(s.queue->schedules()->get("s"))->last_wall_ms == set_wall_ms + 5 * kMinuteMs);
  s.clock.advance(1);
  REQUIRE(s.queue->maintain(10).ok());
  CHECK(answered(s.queue->schedules()->get("s"))->last_wall_ms == set_wall_ms + 5 * kMinuteMs);
}

TEST_CASE("a schedule that a clock years ahead has put off comes at its times once the clock is right") {
  TurnedBack s;
  const int64_t from_ms = s.clock.wall_ms();
  s.set_schedule("yearly", "0 0 1 1 *", MissedRule::one);
  const std::vector<int64_t> yearly = answered(s.queue->schedules()->get("yearly"))->next_wall_ms;
  s.set_schedule("s", "every 10m", GENERATE(MissedRule::one, MissedRule::skip));
  const auto last_minute = [&] {
    REQUIRE(s.queue->maintain(10).ok());
    return (answered(s.queue->schedules()->get("s"))->last_wall_ms - from_ms) / kMinuteMs;
  };
  s.clock.advance(3650 * kDayMs + 3 * kMinuteMs);
  last_minute();  // what the wrong clock makes is made
  s.turn_back(3650 * kDayMs);
  last_minute();
  s.clock.advance(7 * kMinuteMs);
  CHECK(last_minute() == 10);
  s.clock.advance(10 * kMinuteMs);
  CHECK(last_minute() == 20);
  CHECK(answered(s.queue->schedules()->get("yearly"))->next_wall_ms == yearly);
}

TEST_CASE("a server's clock that is set back by a day makes no time of a schedule twice") {
  TurnedBack s;
  s.set_schedule("s", "every 10m", MissedRule::one);
  const auto pushed = [&] {
    REQUIRE(s.queue->maintain(10).ok());
    return answered(s.queue->stats({})).rows.at(0).pushed;
  };
  s.clock.advance(10 * kMinuteMs);
  CHECK(pushed() == 2);
  const bool more = GENERATE(false, true);
  s.turn_back((more ? 2 : 1) * kDayMs);
  CHECK(pushed() == 2);
  s.clock.advance(10 * kMinuteMs);
  CHECK(pushed() == (more ? 3 : 2));
}

TEST_CASE(
    "who only looks finds what is delayed to be due, although nobody has called since the clock went back") {
  TurnedBack s;
  s.push_in(15'000);
  s.turn_back();
  CHECK(answered(s.queue->stats({})).rows.at(0).delayed == 1);
  s.clock.advance(16'000);
  CHECK(answered(s.queue->stats({})).rows.at(0).ready == 1);
}

TEST_CASE("who waits finds that the server's clock went back, where nobody calls") {
  const uint32_t shards = GENERATE(1U, 4U);
  const TestServer server;
  CreateOptions options;
  options.shards = shards;
  answered(real_time_engine().create({server.spool(), "default"}, options));
  const auto queue = open_on(real_time_engine(), server.spool());
  push_one(*queue, "t", "x");
  LeaseRequest for_a_day = for_a_minute();
  for_a_day.hold_ms =
      kDayMs;  // else it is over when its shard is an hour ahead, and the waiter comes back with it
  REQUIRE(answered(queue->lease(for_a_day)).deliveries.size() == 1);
  Waiter waiter(open_on(real_time_engine(), server.spool("?poll=20ms")));
  const std::vector<Reply> roots = command(server, {"KEYS", "fq1:fq:{default:*}:h"}).items;
  REQUIRE(roots.size() == shards);
  wait_until([&] { return command(server, {"KEYS", "*:bw"}).items.size() == shards; });
  const std::string ahead = std::to_string(clock_ms_in(command(server, {"TIME"})) + kHourMs);
  for (const Reply& root : roots) command(server, {"HSET", root.text, "now", ahead});
  for (const Reply& root : roots)
    wait_until([&] { return !command(server, {"HGET", root.text, "lead"}).text.empty(); });
}

TEST_CASE("a rate over shards is reached where the clock of one of their servers was ahead") {
  Rated q(4);
  q.clock.advance(kDayMs);
  REQUIRE(q.s.queue->policy_set("", rate(1, 1'000)).ok());
  q.fill(1, 40);
  const size_t shard = GENERATE(0U, 1U, 2U, 3U);  // the purse's is among them, and that with the work
  const std::string ahead = std::to_string(q.clock.boot_ms() + kHourMs);
  command(q.s.server, {"HSET", tag_of(q.s.server, shard) + "h", "now", ahead});
  size_t started = 0;
  for (int tenths = 0; tenths < 320; ++tenths) {
    started += q.started();
    q.clock.advance(100);
  }
  CHECK(started >= 28);
  CHECK(started <= 33);
  CHECK(is_well(*q.s.queue));
}

TEST_CASE("a clock that goes back by a second is waited for, and one that goes to and fro is not added up") {
  TurnedBack s;
  for (int i = 0; i < 50; ++i) {
    s.clock.advance(i % 2 == 0 ? 900 : -900);
    s.taken();
  }
  s.clock.advance(900);
  s.taken();
  CHECK(s.root_number("now") == s.clock.boot_ms());
}

TEST_CASE(
    "a clock that says 1970 for a while and is set right ends what it held up, and leads to no other time") {
  TurnedBack s;
  s.push_in(15'000);
  const int64_t right_ms = s.clock.boot_ms();
  s.turn_back(right_ms - 10'000);
  s.pass(10'000);
  CHECK(s.taken() == 0);
  s.clock.set_boot_ms(right_ms + 20'000);
  CHECK(s.taken() == 1);
  CHECK(s.root_number("now") <= s.clock.boot_ms() + kMinuteMs);
}

TEST_CASE("of a time in which nobody called a minute goes by, and with the rest the clock has caught up") {
  TurnedBack s;
  s.push_in(kHourMs);
  const int64_t before_ms = s.root_number("now");
  s.turn_back(2 * kHourMs);
  s.taken();
  s.clock.advance(kHourMs);
  s.taken();
  CHECK(s.root_number("now") - before_ms == kMinuteMs / 16 * 15);
  s.clock.advance(kHourMs);
  s.taken();
  CHECK(s.root_number("now") - before_ms < 3 * kMinuteMs);
  CHECK(s.root_number("now") - s.clock.boot_ms() < 3 * kMinuteMs);
}

TEST_CASE("what time it is in a shard is told by its root and the clock") {
  const ShardTime time(text_reply("7200000"), text_reply("57600000 3600000"));
  CHECK(time.at(3'600'000) == 7'200'000);
  CHECK(time.at(3'600'016) == 7'200'015);
  CHECK(time.at(3'660'000) == 7'256'250);
  CHECK(time.at(3'661'000) == 7'256'250);
  CHECK(time.at(20'000'000) == 20'000'000);
  CHECK_FALSE(time.wants_call(3'600'000));
  CHECK_FALSE(time.wants_call(3'599'000));
  CHECK(time.wants_call(3'598'999));
  CHECK_FALSE(time.wants_call(3'630'000));
  CHECK(time.wants_call(3'630'001));
  CHECK_FALSE(time.wants_call(20'000'000));
  CHECK(time.at(0) == 7'200'000);
  for (const char* bad : {"", " ", "x", "-1 -1", "99999999999999999999 1", "1", "1 x"}) {
    CAPTURE(bad);
    CHECK(ShardTime(text_reply("5"), text_reply(bad)).at(1000) <= 1001);
    CHECK(ShardTime(text_reply(bad), text_reply("")).at(1000) == 1000);
  }
  CHECK(ShardTime(Reply(), Reply()).at(1000) == 1000);
}

TEST_CASE("whatever a root says of how far it was ahead, time goes on") {
  TurnedBack s;
  const char* const lead =
      GENERATE("", "x", "1", "-5 -5", "1e9 1e9", "99999999999999999999999999999999 1", "1 2 3", "0 0");
  command(s.server, {"HSET", "fq1:fq:{default:0:0}:h", "lead", lead});
  s.clock.advance(60'000);
  CHECK(answered(s.queue->lease(for_a_minute())).deliveries.size() == 1);
}

}  // namespace fq::test
