// What time does: due messages, ended leases, parks with an end, tenants that are forgotten, a reboot.
#include "tests/schedule/fixture.h"

namespace fq::test {

TEST_CASE("a delayed message is served when it is due") {
  ScheduleFixture q;
  q.add({.tenant = "a", .due_ms = 5000});
  CHECK(q.schedule().timers().next_ms() == 5000);
  CHECK(q.lease() == 0);
  CHECK(q.wait_until(4999) == 0);
  CHECK(q.wait_until(5000) == 1);
  CHECK(q.lease() == 1);
}

TEST_CASE("a lease whose time is over comes back as an attempt and a crash") {
  ScheduleFixture q;
  q.push("a");
  q.lease("", 3000, 2);
  CHECK(q.wait_until(3000) == 1);
  CHECK(q.entry(1).attempts == 1);
  CHECK(q.entry(1).crashes == 1);
  CHECK(q.root().counters.retried == 0);
  q.lease("", 4000, 2);
  q.change([&](Schedule& s, Txn& txn) { s.messages().extend(txn, q.slot(1), 6000); });
  CHECK(q.wait_until(5999) == 0);
  CHECK(q.wait_until(6000) == 1);
  CHECK(q.root().counts.dead == 1);
  CHECK(q.faults().empty());
}

TEST_CASE("a holder's leases are found by the holder and have no timer") {
  ScheduleFixture q;
  q.push("a", 3);
  const HolderIndex holder{5};
  for (int i = 0; i < 3; ++i) {
    q.change([&](Schedule& s, Txn& txn) {
      s.turns().take(txn, kRootTenant, {.holder = holder, .now_ms = q.now});
    });
  }
  CHECK(q.schedule().timers().next_ms() == kNever);
  CHECK(q.faults().empty());
  q.change([&](Schedule& s, Txn& txn) { s.messages().set_holder(txn, q.slot(2), HolderIndex{6}); });
  CHECK(q.schedule().views().first_held(HolderIndex{6}) == q.slot(2));
  CHECK(q.faults().empty());
  uint32_t back = 0;
  while (const auto held = q.schedule().views().first_held(holder)) {
    q.change([&](Schedule& s, Txn& txn) { s.messages().requeue(txn, *held, true, true, 0, q.now); });
    ++back;
  }
  CHECK(back == 2);
  CHECK(q.faults().empty());
}

TEST_CASE("due messages of one moment leave in several transactions that fit the log") {
  ScheduleFixture q;
  for (int i = 0; i < 500; ++i) q.add({.tenant = "t" + std::to_string(i) + "/a/b/c/d/e/f/g", .due_ms = 9000});
  CHECK(q.wait_until(9000) == 500);
  CHECK(q.noted_most < 1400);
  CHECK(q.root().counts.ready == 500);
  CHECK(q.faults().empty());
}

TEST_CASE("a park with an end ends") {
  ScheduleFixture q;
  q.push("a").park("a", 2000);
  CHECK(q.root().parked_count == 1);
  CHECK(q.lease() == 0);
  q.park("a", 3000);
  CHECK(q.wait_until(2000) == 0);
  CHECK(q.wait_until(3000) == 1);
  CHECK(q.root().parked_count == 0);
  CHECK(q.lease() == 1);
}

TEST_CASE("a schedule whose time has come is due once, and waits for its next time then") {
  ScheduleFixture q;
  const bool makes = GENERATE(true, false);
  q.make_room(Growth::need_of_schedule("s"));
  q.change([](Schedule& s, Txn& txn) {
    s.timetable().set(
        txn, {.name = "s", .record = 8, .record_bytes = 8, .done_wall_ms = 1000, .next_wall_ms = 5000}, 5000);
  });
  CHECK(q.wait_until(4999) == 0);
  CHECK(q.wait_until(5000) == 1);
  const uint32_t index = q.schedule().timetable().first_due();
  REQUIRE(index != kNoIndex);
  q.change([&](Schedule& s, Txn& txn) {
    if (makes) s.timetable().note_made(txn, index, 1, 5000, 9000, 9000);
    if (!makes) s.timetable().note_skipped(txn, index, Occurrence::overlap, 5000, 9000, 9000);
  });
  CHECK(q.schedule().timetable().first_due() == kNoIndex);
  CHECK(q.schedule().timetable().at(index).done_wall_ms == 5000);
  CHECK(q.schedule().timetable().at(index).next_wall_ms == 9000);
  CHECK(q.schedule().timers().next_ms() == 9000);
  CHECK(q.faults().empty());
  CHECK(q.wait_until(9000) == 1);
  CHECK(q.schedule().timetable().first_due() == index);
}

TEST_CASE("an idle tenant is forgotten with the parents that it leaves childless") {
  ScheduleFixture q;
  q.push("a/b/c").push("a/x");
  q.serve_ids();
  CHECK(q.schedule().tenants().find("a/b/c").has_value());
  q.wait_until(q.now + kIdleMs - 1);
  CHECK(q.root().tenants_count == 2);
  q.wait_until(q.now + 1);
  CHECK_FALSE(q.schedule().tenants().find("a/b/c").has_value());
  CHECK_FALSE(q.schedule().tenants().find("a").has_value());
  CHECK(q.root().tenants_count == 0);
  CHECK(q.root().tenant_supply.used == 1);
  CHECK(q.root().text_supply.used == 0);
  CHECK(q.faults().empty());
}

TEST_CASE("a tenant that was used again is looked at later") {
  ScheduleFixture q;
  q.push("a");
  q.serve_ids();
  q.now += kIdleMs / 2;
  q.push("a");
  q.serve_ids();
  q.wait_until(q.now + kIdleMs / 2 + 1);
  CHECK(q.schedule().tenants().find("a").has_value());
  q.wait_until(q.now + kIdleMs);
  CHECK_FALSE(q.schedule().tenants().find("a").has_value());
}

TEST_CASE("a tenant with a weight, a park or any message is not forgotten") {
  ScheduleFixture q;
  q.push("weighed").push("parked").push("dead").push("delayed");
  q.weigh("weighed", 2000);
  q.bury(3);
  q.lease();
  q.ack(1);
  q.lease();
  q.ack(2);
  q.park("parked");
  q.lease();
  q.give_back(4, false, 10'000'000);
  q.wait_until(q.now + 2 * kIdleMs);
  CHECK(q.root().tenants_count == 4);
  q.unpark("parked");
  q.unset("weighed", PolicyKey::weight);
  q.wait_until(q.now + 2 * kIdleMs);
  CHECK(q.root().tenants_count == 2);
  CHECK(q.faults().empty());
}

TEST_CASE("an inner node forgets its self child alone") {
  ScheduleFixture q;
  q.push("a").push("a/b", 2);
  CHECK(q.serve_tenants(2) == "a a/b");
  q.wait_until(q.now + kIdleMs);
  CHECK(q.root().tenants_count == 1);
  q.push("a");
  CHECK(q.faults().empty());
  CHECK(q.serve_tenants() == "a/b a");
}

TEST_CASE("after a reboot timers keep their wall time but never wait longer than they had left") {
  ScheduleFixture q;
  q.now = 100'000;
  for (const int64_t due : {101'000, 150'000, 400'000}) q.add({.tenant = "a", .due_ms = due});
  q.push("a");
  q.lease("", 102'000);
  // Off for 40 s: the new boot's clock stands at 5 s when the old one would be at 140 s.
  Schedule s = q.schedule();
  s.timers().shift(100'000, 5000, -135'000);
  CHECK(q.entry(1).at_ms == 5000);
  CHECK(q.entry(2).at_ms == 15'000);
  CHECK(q.entry(3).at_ms == 265'000);
  CHECK(q.entry(4).at_ms == 5000);
  CHECK(q.faults().empty());
  // The wall clock was set back by an hour meanwhile: nothing waits an hour more.
  s.timers().shift(5000, 6000, 3'600'000);
  CHECK(q.entry(2).at_ms == 16'000);
}

}  // namespace fq::test
