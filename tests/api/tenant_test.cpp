// tenant_test - what is set for a tenant holds for it and all below it, until it is over.
#include "tests/api/contract.h"

namespace fq::test {

namespace {

void limit(QueueFixture& q, const std::string& tenant, int64_t for_ms) {
  REQUIRE(q.door().policy_set(q.path(tenant), for_ms > 0 ? limited_for(for_ms) : limited_no_more()).ok());
}

}  // namespace

TEST_CASE("a limited tenant and all below it have no turns until the limit is over") {
  ON_EVERY_ENGINE(q);
  q.push("a", "a1");
  q.push("a/x", "x1");
  q.push("b", "b1");
  limit(q, "a", 10'000);
  q.push("a/y", "y1");
  CHECK(q.served() == "b1");
  LeaseRequest narrow;
  for (const char* tenant : {"a", "a/x"}) {
    narrow.tenant = tenant;
    CHECK(q.lease_all(narrow).deliveries.empty());
  }
  CHECK(q.stats().ready == 3);
  const LeaseReply none = q.lease_all({});
  CHECK(none.next_wake_ms == 10'000);
  q.clock().advance(9'999);
  CHECK(q.served().empty());
  q.clock().advance(1);
  CHECK(q.served() == "a1 x1 y1");
}

TEST_CASE("a limit is replaced by the next one and taken back by none") {
  ON_EVERY_ENGINE(q);
  q.push("a", "a1");
  limit(q, "a", 10'000);
  limit(q, "a", 1'000);
  q.clock().advance(1'000);
  CHECK(q.served() == "a1");
  q.push("a", "a2");
  limit(q, "a", 1'000);
  limit(q, "a", 5'000);
  q.clock().advance(1'000);
  CHECK(q.served().empty());
  limit(q, "a", 0);
  CHECK(q.served() == "a2");
}

TEST_CASE("a limit may come before the tenant's first message, and outlives its last") {
  ON_EVERY_ENGINE(q);
  limit(q, "nobody", 0);
  limit(q, "new/one", 120'000);
  q.push("new/one", "m");
  q.push("new/two", "other");
  CHECK(q.served() == "other");
  q.clock().advance(119'999);
  CHECK(q.served().empty());
  q.clock().advance(1);
  CHECK(q.served() == "m");
}

TEST_CASE("what is leased when its tenant is limited goes on, and what comes back waits") {
  ON_EVERY_ENGINE(q);
  q.push("a", "a1");
  const Delivery held = q.lease();
  limit(q, "a", 1'000);
  CHECK(q.release(held) == SettleStatus::ok);
  CHECK(q.served().empty());
  q.clock().advance(1'000);
  CHECK(q.served() == "a1");
}

TEST_CASE("peek shows what is limited, behind all others") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  for (const char* payload : {"a1", "a2", "a3"}) q.push("a", payload);
  q.push("b", "b1");
  q.push("c", "c1");
  limit(q, "a", 1'000);
  limit(q, "c", 1'000);
  std::string seen;
  Cursor from;
  do {  // in pages of two, so that a page begins in the middle of a tenant
    const MessagePage page = q.door().peek({.tenant = {}, .state = State::ready, .tag = {}}, from, 2).value();
    for (const MessageInfo& each : page.messages) seen += each.payload.value() + " ";
    from = page.next;
  } while (!from.text.empty());
  CHECK(seen == "b1 a1 a2 a3 c1 ");
}

TEST_CASE("a tenant's name is looked at before anything is set for it") {
  ON_EVERY_ENGINE(q);
  for (const char* name : {"a//b", "/", ".."}) {
    const Result<void> set = q.door().policy_set(name, limited_for(1'000));
    REQUIRE_FALSE(set.ok());
    CHECK(set.error().kind == ErrorKind::usage);
  }
  CHECK(q.door().policy_set("a", {}).ok());
}

TEST_CASE("what is no setting is not set, nor with one that is") {
  ON_EVERY_ENGINE(q);
  const PolicyValue burst{PolicyKey::burst, 5, 0, {}};
  for (const int key : {0, 26, 200}) {
    const PolicyValue none{static_cast<PolicyKey>(key), 1, 0, {}};
    CHECK_FALSE(q.door().policy_set("a", {{burst, none}, {}}).ok());
    CHECK_FALSE(q.door().policy_set("a", {{}, {none.key}}).ok());
  }
  CHECK_FALSE(q.door().policy_set("a", {std::vector<PolicyValue>(70'000, burst), {}}).ok());
  const PolicyValue named{PolicyKey::burst, 5, 0, std::string(70'000, 'n')};
  CHECK_FALSE(q.door().policy_set("a", {{named}, {}}).ok());
  CHECK(q.door().policy_set("a", {{burst}, {}}).ok());
  CHECK(q.door().policy_overrides({}, 0).ok());
}

TEST_CASE("a policy that no file can say is refused, and nothing of it holds") {
  ON_EVERY_ENGINE(q);
  const PolicyValue weight{PolicyKey::weight, 2'000, 0, {}}, burst{PolicyKey::burst, 5, 0, {}};
  const PolicyValue attempts{PolicyKey::attempts, 2, 0, {}};
  const Policy none[] = {
      {{weight}, {}, {}},                                                 // not of a queue
      {{attempts, attempts}, {}, {}},                                     // twice
      {{{PolicyKey::order, 17, 0, {}}}, {}, {}},                          // no such order
      {{{PolicyKey::draining, 1, 0, {}}}, {}, {}},                        // at run time only
      {{}, {{"a", {{PolicyKey::limited, 1'000, 0, {}}}}}, {}},            // likewise
      {{}, {{"a", {{PolicyKey::pool, 0, 0, "a b"}}}}, {}},                // no name of a pool
      {{{static_cast<PolicyKey>(200), 1, 0, {}}}, {}, {}},                // no such key
      {{{PolicyKey::attempts, 2, 0, std::string(70'000, 'n')}}, {}, {}},  // a name of a number
      {{}, {{"a", {attempts}}}, {}},                                      // not of a tenant
      {{}, {{std::string(600, 'a'), {burst}}}, {}},                       // no name of a tenant
      {{}, {{"", {burst}}}, {}},                                          // nor this
      {{}, {{"a", {{PolicyKey::rate, -1, 1, {}}}}}, {}},                  // below zero
      {{}, {}, {{std::string(600, 'p'), {burst}}}},                       // no name of a pool
      {{}, {}, {{"p", {weight}}}},                                        // not of a pool
      {{}, {}, {{"p", {burst, burst}}}},                                  // twice
  };
  const uint32_t attempts_max = q.door().settings()->attempts_max;
  for (const Policy& each : none) {
    CAPTURE(&each - none);
    Policy policy = each;
    if (policy.queue.empty()) policy.queue.push_back(attempts);
    const Result<void> checked = q.door().policy_check(policy);
    const Result<void> loaded = q.door().policy_load(policy, {.inode = 1});
    REQUIRE_FALSE(checked.ok());
    REQUIRE_FALSE(loaded.ok());
    CHECK(checked.error().kind == ErrorKind::config);
    CHECK(loaded.error().kind == ErrorKind::config);
    CHECK(q.door().settings()->attempts_max == attempts_max);
  }
  CHECK(q.door().policy_load({{attempts}, {{"a/*", {weight}}}, {{"p", {burst}}}}, {.inode = 1}).ok());
  CHECK(q.door().settings()->attempts_max == 2);
}

}  // namespace fq::test
