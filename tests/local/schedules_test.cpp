// schedules_test - as many schedules as a queue may have, and as many times as may have passed.

// fq, below us.
#include "core/api/schedules.h"
#include "core/base/limits.h"
// Tests.
#include "tests/local/fixture.h"

namespace fq::test {

namespace {

constexpr int64_t kMinuteMs = 60'000;
constexpr int64_t kDayMs = 24 * 60 * kMinuteMs;

void set_every(SpoolFixture& q, const std::string& name, const std::string& time, MissedRule missed) {
  ScheduleDefinition often;
  often.name = name;
  often.spec = "every " + time;
  often.missed = missed;
  often.overlap = OverlapRule::queue;
  often.message.payload = as_bytes(std::string_view("tick"));
  REQUIRE(q.door().schedules()->set(often).ok());
}

void set_every_10m(SpoolFixture& q, MissedRule missed) { set_every(q, "often", "10m", missed); }

/// Leases all there is and acks it: when each was due, in minutes since `from`.
std::string due_times(SpoolFixture& q, int64_t from) {
  std::string text;
  for (;;) {
    const LeaseReply reply = q.lease_from(q.door(), {.hold = Hold::duration, .hold_ms = 1000});
    if (reply.deliveries.empty()) return text;
    const Delivery& one = reply.deliveries[0];
    text += std::to_string((one.scheduled_at_wall_ms - from) / kMinuteMs) + " ";
    REQUIRE(q.ack(one) == SettleStatus::ok);
  }
}

}  // namespace

TEST_CASE("schedules that are carried forward while the ring goes on are all kept") {
  SpoolFixture q;
  q.sync_lazily();
  set_every(q, "first", "1h", MissedRule::skip);
  const std::string payload(45'000, 'x');
  q.carry_behind([&] {
    for (int i = 0; i < 10; ++i) {
      ScheduleDefinition large;
      large.name = "s" + std::to_string(i);
      large.spec = "every 1h";
      large.message.payload = as_bytes(payload);
      REQUIRE(q.door().schedules()->set(large).ok());
    }
  });
  CHECK(q.door().take_notices().empty());
  CHECK(q.door().schedules()->list({}, 20).value().schedules.size() == 11);
  q.check_clean();
}

TEST_CASE("a clock that was years ahead for a moment does not silence a schedule until then") {
  SpoolFixture q;
  const int64_t from = q.clock.wall_ms();
  set_every_10m(q, GENERATE(MissedRule::one, MissedRule::skip));
  q.clock.set_wall_ms(from + 3650 * kDayMs + 3 * kMinuteMs);
  due_times(q, from);  // what the wrong clock makes is made
  q.clock.set_wall_ms(from + 3 * kMinuteMs);
  if (GENERATE(false, true)) q.lose_segment();
  CHECK(due_times(q, from) == "");
  CHECK(q.door().schedules()->get("often").value()->next_wall_ms.at(0) == from + 10 * kMinuteMs);
  if (GENERATE(false, true)) q.lose_segment();
  CHECK(due_times(q, from) == "");  // a look, from which it goes on
  q.clock.advance(7 * kMinuteMs);
  CHECK(due_times(q, from) == "10 ");
  if (GENERATE(false, true)) q.lose_segment();
  q.clock.advance(10 * kMinuteMs);
  CHECK(due_times(q, from) == "20 ");
  CHECK(q.door().check().value().findings.lines.empty());
}

TEST_CASE("a clock that was months behind for a moment makes no time again") {
  SpoolFixture q;
  const int64_t from = q.clock.wall_ms();
  set_every_10m(q, MissedRule::all);
  q.clock.advance(25 * kMinuteMs);
  CHECK(due_times(q, from) == "10 20 ");
  q.clock.set_wall_ms(from - 90 * kDayMs + kMinuteMs);
  CHECK(due_times(q, from) == "");
  q.clock.set_wall_ms(from + 26 * kMinuteMs);
  CHECK(due_times(q, from) == "");
  q.clock.advance(4 * kMinuteMs);
  CHECK(due_times(q, from) == "30 ");
}

TEST_CASE("a clock that is set back by a day makes nothing twice, by more it is one that was wrong") {
  SpoolFixture q;
  const int64_t from = q.clock.wall_ms();
  set_every_10m(q, MissedRule::one);
  q.clock.advance(10 * kMinuteMs);
  CHECK(due_times(q, from) == "10 ");
  const bool more = GENERATE(false, true);
  q.clock.set_wall_ms(from + 10 * kMinuteMs - (more ? 2 : 1) * kDayMs);
  CHECK(due_times(q, from) == "");
  q.clock.advance(10 * kMinuteMs);
  CHECK(due_times(q, from) == (more ? "-2860 " : ""));
}

TEST_CASE("by a clock that was wrong and is set on, what is due is made in the order of its times") {
  SpoolFixture q;
  const int64_t from = q.clock.wall_ms();
  set_every_10m(q, MissedRule::one);
  set_every(q, "oftener", "9m", MissedRule::one);
  q.clock.set_wall_ms(from - 2 * kDayMs);
  CHECK(due_times(q, from) == "");
  q.clock.set_wall_ms(from - 2 * kDayMs + 11 * kMinuteMs);
  CHECK(due_times(q, from) == "-2871 -2870 ");
}

TEST_CASE("a queue has as many schedules as there may be, and not one more") {
  SpoolFixture q;
  q.sync_lazily();
  std::vector<ScheduleDefinition> all(kSchedulesMax + 1);
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].name = "n" + std::to_string(i);
    all[i].spec = "@yearly";
    all[i].message.payload = as_bytes(std::string_view("x"));
  }
  Schedules& schedules = *q.door().schedules();
  const Result<void> too_many = schedules.load(all);
  REQUIRE_FALSE(too_many.ok());
  CHECK(too_many.error().kind == ErrorKind::later);
  CHECK(too_many.error().text.find("has 65536 schedules, the limit is 65536") != std::string::npos);
  CHECK(schedules.get(all[kSchedulesMax - 1].name).value());
  CHECK_FALSE(schedules.get(all[kSchedulesMax].name).value());
  all[0].spec = "@daily";
  CHECK(schedules.set(all[0]).ok());  // it is there already
  CHECK_FALSE(schedules.set(all[kSchedulesMax]).ok());
  CHECK(schedules.remove(all[0].name).value());
  CHECK(schedules.set(all[kSchedulesMax]).ok());
}

TEST_CASE("times of a year that nobody was there for are made up in parts, between which others are served") {
  constexpr int64_t kYearMs = int64_t{365} * 24 * 3600 * 1000;
  constexpr uint64_t kAtOnce = 512;
  SpoolFixture q;
  q.sync_lazily();
  const OverlapRule overlap = GENERATE(OverlapRule::queue, OverlapRule::skip);
  ScheduleDefinition often;
  often.name = "often";
  often.spec = "every 1s";
  often.missed = MissedRule::all;
  often.overlap = overlap;
  often.message.payload = as_bytes(std::string_view("tick"));
  REQUIRE(q.door().schedules()->set(often).ok());
  NewMessage waits;
  waits.payload = as_bytes(std::string_view("waits"));
  REQUIRE(q.door().push({&waits, 1}).ok());
  q.clock.advance(kYearMs);

  const auto made = [&] {
    const StatsRow row = q.door().stats({}).value().rows.at(0);
    return row.ready + row.held + row.leased;
  };
  LeaseRequest request;
  request.want = 16;
  const LeaseReply first = q.door().lease(request).value();
  CHECK(std::any_of(first.deliveries.begin(), first.deliveries.end(),
                    [](const Delivery& one) { return one.payload.bytes() == "waits"; }));
  CHECK(made() <= 2 * kAtOnce + 1);
  Interrupt interrupt;
  interrupt.raise();
  request.wait = true;
  request.interrupt = &interrupt;
  CHECK(q.door().lease(request).ok());
  CHECK(made() <= 4 * kAtOnce + 1);
}

TEST_CASE("however many times have passed, each is made or passed over in the end") {
  constexpr int64_t kPassed = 1'000;
  SpoolFixture q;
  q.sync_lazily();
  ScheduleDefinition often;
  often.name = "often";
  often.spec = "every 1s";
  often.missed = MissedRule::all;
  often.overlap = OverlapRule::queue;
  often.message.payload = as_bytes(std::string_view("tick"));
  REQUIRE(q.door().schedules()->set(often).ok());
  q.clock.advance(kPassed * 1'000);
  // Nothing is pushed meanwhile, and nobody wakes who waits: it takes them without a sleep between the parts.
  int64_t served = 0;
  for (LeaseRequest request; served < kPassed;) {
    request.wait = true;
    request.until_idle = true;
    const LeaseReply reply = q.door().lease(request).value();
    REQUIRE(reply.deliveries.size() == 1);
    Settle ack;
    ack.receipt = reply.deliveries[0].receipt;
    REQUIRE(q.door().settle({&ack, 1}).ok());
    ++served;
  }
  LeaseRequest last;
  last.wait = true;
  last.until_idle = true;
  CHECK(q.door().lease(last).value().why_empty == WhyEmpty::idle);
}

}  // namespace fq::test
