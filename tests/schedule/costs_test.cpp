// costs_test - turns that are paid in bytes or run time.
#include "core/schedule/rings/costs.h"

// Tests.
#include "tests/schedule/fixture.h"

namespace fq::test {
namespace {

/// Runs the next message for so long; whose it was.
std::string run(ScheduleFixture& q, int64_t ms, std::optional<uint64_t> told_us = std::nullopt) {
  const uint64_t id = q.lease();
  const std::string tenant = q.tenant_of(id);
  q.wait_until(q.now + ms);
  q.change([&](Schedule& s, Txn& txn) { s.messages().end_run(txn, q.slot(id), told_us, q.now); });
  q.ack(id);
  return tenant;
}

const Tenant& node(ScheduleFixture& q, const std::string& path) {
  return q.schedule().tenants().at(*q.schedule().tenants().find(path));
}

ScheduleFixture fair_by(FairBy fair_by) {
  ScheduleFixture q;
  q.set_terms({.fair_by = fair_by});
  return q;
}

}  // namespace

TEST_CASE("what was charged has a byte of its own that is not far off") {
  for (uint64_t ticks = 1; ticks <= UINT32_MAX; ticks += 1 + ticks / 1000) {
    const auto exact = static_cast<uint32_t>(ticks);
    const uint32_t kept = ticks_of(rough_of(exact));
    if (kept > exact || exact - kept > exact / 8) FAIL(exact << " is kept as " << kept);
    if (rough_of(kept) != rough_of(exact)) FAIL(kept << " has another byte than " << exact);
  }
}

TEST_CASE("by bytes, a tenant of long payloads has as many bytes and fewer turns") {
  ScheduleFixture q = fair_by(FairBy::bytes);
  for (int i = 0; i < 10; ++i) q.add({.tenant = "long", .payload_bytes = 4096});
  for (int i = 0; i < 40; ++i) q.add({.tenant = "short", .payload_bytes = 1024});
  uint64_t longs = 0;
  for (int i = 0; i < 25; ++i) longs += run(q, 0) == "long" ? 1u : 0u;
  CHECK(longs == 5);
  CHECK(q.faults().empty());
}

TEST_CASE("by time, a run is paid at its end, more or less than expected") {
  ScheduleFixture q = fair_by(FairBy::time);
  q.push("acme/a", 3).push("other", 3);
  const uint64_t first = q.lease();
  const uint64_t expected = ticks_of(rough_of(kTicksMin)) * kCostPerTick / kWeightDefault;
  const uint64_t account = node(q, "acme").tag, leaf = node(q, "acme/a").tag;
  q.wait_until(q.now + 300);
  q.ack(first);
  const uint64_t took = 300 * kTicksPerMs * kCostPerTick / kWeightDefault;
  CHECK(node(q, "acme").tag == account - expected + took);
  CHECK(node(q, "acme/a").tag == leaf - expected + took);
  CHECK(node(q, "acme/a").run_ticks == 300 * kTicksPerMs);
  CHECK(q.faults().empty());
}

TEST_CASE("by time, a run of months is not taken for one of hours") {
  constexpr int64_t kDayMs = 86'400'000;
  for (const int64_t days : {1, 49, 50, 100}) {
    ScheduleFixture q = fair_by(FairBy::time);
    q.push("acme", 3).push("other", 3);
    const uint64_t first = q.lease();
    q.wait_until(q.now + days * kDayMs);
    q.ack(first);
    CHECK(node(q, "acme").run_ticks == UINT32_MAX);  // the most that one counts for
  }
}

TEST_CASE("by time, whoever ends a run, it is paid once") {
  using End = std::function<void(ScheduleFixture&, uint64_t)>;
  const std::pair<const char*, End> ends[] = {
      {"ack", [](ScheduleFixture& q, uint64_t id) { q.ack(id); }},
      {"retry", [](ScheduleFixture& q, uint64_t id) { q.give_back(id, true); }},
      {"release, later", [](ScheduleFixture& q, uint64_t id) { q.give_back(id, false, q.now + 1000); }},
      {"bury", [](ScheduleFixture& q, uint64_t id) { q.bury(id); }},
      {"lease over", [](ScheduleFixture& q, uint64_t) { q.wait_until(q.now + 200); }},
      {"cancel",
       [](ScheduleFixture& q, uint64_t id) {
         q.change([&](Schedule& s, Txn& txn) {
           s.messages().finish(txn, q.slot(id), RecordType::cancelled, {7, q.now, q.now});
         });
       }},
  };
  for (const auto& [name, end] : ends) {
    CAPTURE(name);
    ScheduleFixture q = fair_by(FairBy::time);
    q.push("a", 2).push("b", 2);
    const bool runs_out = std::string_view(name) == "lease over";
    const uint64_t id = q.lease("", runs_out ? q.now + 600 : kNever);
    q.wait_until(q.now + 400);
    end(q, id);
    const uint64_t ticks = (runs_out ? 600u : 400u) * kTicksPerMs;
    CHECK(node(q, "a").run_ticks == ticks);
    // Level with the other before it started, one expected turn after the beginning.
    const uint64_t level = node(q, "b").tag;
    CHECK(node(q, "a").tag == level + ticks * kCostPerTick / kWeightDefault);
    CHECK(q.faults().empty());
  }
}

TEST_CASE("by time, parts of a batch pay what they are told, not all of it each") {
  ScheduleFixture q = fair_by(FairBy::time);
  q.push("a", 4).push("b", 1);
  const uint64_t before = node(q, "b").tag;
  for (int i = 0; i < 4; ++i) {
    const uint64_t id = q.lease("a");
    q.change([&](Schedule& s, Txn& txn) { s.messages().end_run(txn, q.slot(id), 25'000, q.now + 100); });
    q.ack(id);
  }
  // Taken from `a` itself: nothing above it pays.
  CHECK(node(q, "a").tag == before);
  CHECK(node(q, "a").run_ticks == 25 * kTicksPerMs);
}

TEST_CASE("by time, a newcomer starts level and who was idle has earned nothing") {
  ScheduleFixture q = fair_by(FairBy::time);
  q.push("busy", 100).push("idle", 1);
  CHECK(run(q, 100) == "busy");
  CHECK(run(q, 100) == "idle");
  for (int i = 0; i < 20; ++i) CHECK(run(q, 100) == "busy");
  q.push("idle", 10).push("new", 10);
  std::string order;
  for (int i = 0; i < 9; ++i) order += run(q, 100)[0];
  // Nobody has more than one in a row, and each three of nine.
  for (const char each : {'b', 'i', 'n'}) CHECK(std::count(order.begin(), order.end(), each) == 3);
  CHECK(order.find("ii") == std::string::npos);
  CHECK(order.find("nn") == std::string::npos);
}

TEST_CASE("by time, who has used an hour waits for an hour of others', or for an hour to pass") {
  for (const bool idle : {false, true}) {
    ScheduleFixture q = fair_by(FairBy::time);
    q.weigh("heavy", 2000);
    q.push("other", 10);
    for (int i = 0; i < 10; ++i) run(q, 60'000);
    q.push("heavy", 1);
    CHECK(run(q, 3'600'000) == "heavy");
    if (idle) q.wait_until(q.now + 3'600'000 + 120'000);
    CHECK(q.schedule().tenants().find("heavy").has_value());
    q.push("heavy", 50).push("other", 200);
    uint64_t others = 0;
    // At twice the weight an hour is paid by half an hour of the other's.
    while (run(q, 60'000) == "other") ++others;
    if (idle) CHECK(others <= 1);
    if (!idle) CHECK(others >= 29);
    if (!idle) CHECK(others <= 31);
    CHECK(q.faults().empty());
  }
}

TEST_CASE("by time, a debt is not shed with messages that are cancelled or expire") {
  for (const bool cancelled : {false, true}) {
    CAPTURE(cancelled);
    ScheduleFixture q = fair_by(FairBy::time);
    q.push("other", 10);
    for (int i = 0; i < 10; ++i) run(q, 1000);
    q.push("debtor", 1);
    const uint64_t id = q.lease();
    q.wait_until(q.now + 60'000);
    // Ready behind it when it ends, and gone without having been run.
    const uint64_t dummy = q.add({.tenant = "debtor", .extra = true, .ttl_ms = cancelled ? kNever : 10});
    q.ack(id);
    if (cancelled) {
      q.change([&](Schedule& s, Txn& txn) {
        s.messages().finish(txn, q.slot(dummy), RecordType::cancelled, {7, q.now, q.now});
      });
    }
    q.wait_until(q.now + 10);
    q.push("debtor", 2).push("other", 200);
    int others = 0;
    while (run(q, 1000) == "other") ++others;
    CHECK(others >= 58);
    CHECK(q.faults().empty());
  }
}

TEST_CASE("by time, one long run of somebody makes no newcomer wait") {
  ScheduleFixture q = fair_by(FairBy::time);
  q.push("busy", 300);
  for (int i = 0; i < 100; ++i) run(q, 1);
  q.push("long", 1);
  while (q.tenant_of(q.schedule().messages().entry(*q.schedule().turns().next(kRootTenant)).id) != "long")
    run(q, 1);
  run(q, 3'600'000);
  q.push("new", 1);
  int before = 0;
  while (run(q, 1) != "new") ++before;
  CHECK(before <= 3);
}

TEST_CASE("by time, a lease that ran out long ago is charged until its end") {
  ScheduleFixture q = fair_by(FairBy::time);
  q.push("a", 2).push("b", 2);
  q.lease("", q.now + 100);
  q.wait_until(q.now + 3'600'000);
  CHECK(node(q, "a").run_ticks == 100 * kTicksPerMs);
}

TEST_CASE("a tenant that owes is remembered until it does not") {
  ScheduleFixture q = fair_by(FairBy::time);
  q.push("keep", 1).push("debtor", 1);
  q.park("keep");
  CHECK(run(q, 600'000) == "debtor");
  q.wait_until(q.now + 5 * kIdleMs);
  CHECK(q.schedule().tenants().find("debtor").has_value());
  q.wait_until(q.now + 7 * kIdleMs);
  CHECK_FALSE(q.schedule().tenants().find("debtor").has_value());
}

TEST_CASE("of a leaf that becomes inner when all of it has ended nothing is expected") {
  ScheduleFixture q = fair_by(FairBy::time);
  q.push("keep", 1).push("debtor", 2);
  q.park("keep");
  for (int i = 0; i < 2; ++i) CHECK(run(q, 600'000) == "debtor");
  q.push("debtor/x", 1);  // while it owes: what is expected of one that is level is nothing anyhow
  CHECK(q.faults().empty());
}

TEST_CASE("a debt of a month is forgiven in a month") {
  constexpr int64_t kHourMs = 3'600'000;
  ScheduleFixture q = fair_by(FairBy::time);
  q.push("keep", 1).push("debtor", 70);
  q.park("keep");
  for (int i = 0; i < 70; ++i) q.lease();
  q.wait_until(q.now + 11 * kHourMs);
  for (uint64_t id = 2; id <= 71; ++id) q.ack(id);
  q.wait_until(q.now + 700 * kHourMs);
  CHECK(q.schedule().tenants().find("debtor").has_value());
  q.wait_until(q.now + 70 * kHourMs);
  CHECK_FALSE(q.schedule().tenants().find("debtor").has_value());
}

TEST_CASE("when turns cost something else, nobody keeps what he was ahead or behind") {
  ScheduleFixture q = fair_by(FairBy::time);
  q.push("a", 50).push("b/x", 50).push("c", 50);
  for (int i = 0; i < 5; ++i) run(q, i == 0 ? 3'600'000 : 10);
  const uint64_t id = q.lease();  // charged by time, ended by turns
  q.set_terms({.fair_by = FairBy::turns});
  CHECK(q.faults().empty());
  q.wait_until(q.now + 1000);
  q.ack(id);
  std::string order;
  for (int i = 0; i < 12; ++i) order += run(q, 10)[0];
  for (const char each : {'a', 'b', 'c'}) CHECK(std::count(order.begin(), order.end(), each) == 4);
  CHECK(q.faults().empty());
}

}  // namespace fq::test
