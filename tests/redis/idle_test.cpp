// idle_test - tenants that have nothing leave nothing behind.

// Tests.
#include "tests/redis/on_cluster.h"
#include "tests/redis/tenant_keys.h"

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
