// idle_test - tenants that have nothing leave nothing behind.

// System.
#include <algorithm>
// Tests.
#include "tests/redis/on_cluster.h"
#include "tests/redis/tenant_keys.h"
#include "tests/redis/tolls_fixture.h"

namespace fq::test {

namespace {

constexpr std::string_view kIdleKeys = "fq1:fq:{default:0:0}:";

struct IdleTenants {
  FakeClock clock;
  TestServer server;
  std::unique_ptr<Queue> queue = open_on(told_time_engine(), server.spool(), &clock);

  void serve(const std::string& tenant) {
    push_one(*queue, tenant, "x");
    const LeaseReply taken = answered(queue->lease(for_a_minute()));
    REQUIRE(ack(*queue, taken.deliveries.at(0)) == SettleStatus::ok);
  }
  std::string left() { return of_tenants(all_keys(server, "fq")); }
};

}  // namespace

TEST_CASE("of tenants that have nothing no key is left, however many there were") {
  IdleTenants idle;
  for (int i = 0; i < 40; ++i) idle.serve("t" + std::to_string(i));
  CHECK_FALSE(idle.left().empty());
  forget_idle(*idle.queue, idle.clock, {"other"});
  CHECK(idle.left().empty());
}

TEST_CASE("a tenant of which something is set or waits is not forgotten, nor is one above it") {
  IdleTenants idle;
  idle.serve("a/x");
  idle.serve("b/x");
  REQUIRE(idle.queue->policy_set("a/x", {{{PolicyKey::weight, 2'000, 0, {}}}, {}}).ok());
  NewMessage later = message_for("b/x");
  later.delay_ms = 86'400'000;
  answered(idle.queue->push({&later, 1}));
  forget_idle(*idle.queue, idle.clock, {"other"});
  const std::string left = idle.left();
  for (const std::string name : {"n:a ", "n:a/x ", "c:a/x ", "n:b ", "n:b/x ", "c:b/x "})
    CHECK(left.find(name) != std::string::npos);
  REQUIRE(idle.queue->policy_set("a/x", kNothingSet).ok());
  forget_idle(*idle.queue, idle.clock, {"other"});
  CHECK(idle.left().find("a/x") == std::string::npos);
}

TEST_CASE("a tenant that had nothing below it while a file was loaded goes by that file") {
  IdleTenants idle;
  constexpr int64_t kDayMs = 86'400'000;
  const auto load = [&](const std::vector<TenantRule>& rules, uint64_t inode) {
    return idle.queue->policy_load({{}, rules, {}}, {.inode = inode}).ok();
  };
  REQUIRE(load({{"acme", {{PolicyKey::rate, 1, kDayMs, {}}}}}, 1));
  idle.serve("acme/u1");
  forget_idle(*idle.queue, idle.clock, {"other"});
  CHECK(idle.left().find("acme/u1") == std::string::npos);
  CHECK(idle.left().find("n:acme ") != std::string::npos);  // its bucket fills
  const bool has_rule = GENERATE(true, false);
  REQUIRE((has_rule ? load({{"acme", {{PolicyKey::rate, 1, 1, {}}, {PolicyKey::burst, 9, 0, {}}}}}, 2) : load({}, 2)));
  for (int i = 0; i < 2; ++i) push_one(*idle.queue, "acme/u1", "x");
  LeaseRequest request = for_a_minute();
  request.want = 9;
  CHECK(answered(idle.queue->lease(request)).deliveries.size() == 2);
}

TEST_CASE("who has nothing below it while fair_by changes is level, too") {
  IdleTenants idle;
  set_fair_by(*idle.queue, FairBy::time);
  const bool is_set = GENERATE(false, true);  // of whom something is set stays without being looked at
  if (is_set) set_for(*idle.queue, "acme", PolicyKey::concurrency, 99);
  for (int i = 0; i < 40; ++i) push_one(*idle.queue, "acme/u" + std::to_string(i), "x");
  const LeaseReply taken = answered(idle.queue->lease(for_a_minute(40)));
  REQUIRE(taken.deliveries.size() == 40);
  idle.clock.advance(5'000);
  for (const Delivery& each : taken.deliveries) REQUIRE(ack(*idle.queue, each) == SettleStatus::ok);
  idle.clock.advance(62'000);
  answered(idle.queue->compact());
  CHECK(idle.left().find("acme/u") == std::string::npos);
  CHECK(idle.left().find("n:acme ") != std::string::npos);  // it owes 138 s
  set_fair_by(*idle.queue, FairBy::turns);
  for (int i = 0; i < 20; ++i) push_one(*idle.queue, "other", "x");
  for (int i = 0; i < 5; ++i) push_one(*idle.queue, "acme/z", "x");
  std::string served;
  for (const Delivery& each : answered(idle.queue->lease(for_a_minute(11))).deliveries)
    served += each.tenant[0];
  CHECK(std::count(served.begin(), served.end(), 'a') == 5);
}

TEST_CASE("compact forgets all tenants that have nothing, and what so many were in the way of can be set") {
  IdleTenants idle;
  for (int thousand = 0; thousand < 11; ++thousand) {
    std::vector<std::string> names;
    for (int i = 0; i < 1'000; ++i) names.push_back("t" + std::to_string(1'000 * thousand + i));
    std::vector<NewMessage> messages;
    for (const std::string& name : names) messages.push_back(message_for(name));
    answered(idle.queue->push(messages));
  }
  for (Cursor from;;) {
    const MutateReply reply = answered(idle.queue->mutate(Filter(), Action::cancel, from, 1'000));
    if (reply.next.text.empty()) break;
    from = reply.next;
  }
  const PolicyPatch by_time{{{PolicyKey::fair_by, static_cast<int64_t>(FairBy::time), 0, {}}}, {}};
  answered(idle.queue->compact());
  CHECK_FALSE(idle.queue->policy_set("", by_time).ok());
  idle.clock.advance(60'000);
  answered(idle.queue->compact());
  CHECK(idle.left().empty());
  CHECK(idle.queue->policy_set("", by_time).ok());
}

TEST_CASE("a tenant that is in no list of those to be forgotten is found and mended") {
  IdleTenants idle;
  idle.serve("a");
  command(idle.server, {"DEL", std::string(kIdleKeys) + "il"});
  CHECK(answered(idle.queue->check()).findings.lines.at(0) ==
        "tenant a: has nothing, and would never be forgotten");
  CHECK(answered(idle.queue->check({.repair = true})).findings.empty());
  forget_idle(*idle.queue, idle.clock, {"other"});
  CHECK(idle.left().empty());
}

}  // namespace fq::test
