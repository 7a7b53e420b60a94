// Groups: how long a tenant's messages gather, what one group takes, and what becomes of the rest.
#include "tests/schedule/fixture.h"

// System.
#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

namespace fq::test {
namespace {

using Ids = std::vector<uint64_t>;

ScheduleFixture lingering(int64_t linger_ms, uint64_t batch_max = UINT64_MAX) {
  ScheduleFixture q;
  q.set_terms({.linger_ms = linger_ms, .batch_max = batch_max});
  return q;
}

}  // namespace

TEST_CASE("a tenant is served once its oldest message has waited") {
  ScheduleFixture q = lingering(3'000);
  q.push("a");
  q.wait_until(2'000);
  q.push("a").push("b");
  CHECK(q.lease() == 0);
  q.wait_until(3'999);
  CHECK(q.lease() == 0);
  CHECK(q.faults().empty());
  q.wait_until(4'000);
  CHECK(q.preview_ids() == "1 2");
  CHECK(q.lease_group() == Ids{1, 2});
  CHECK(q.lease() == 0);
  q.wait_until(5'000);
  CHECK(q.lease_group() == Ids{3});
  CHECK(q.faults().empty());
}

TEST_CASE("a full batch waits for nothing, and is all that a group takes") {
  ScheduleFixture q = lingering(3'000, 3);
  q.push("a", 2);
  CHECK(q.lease() == 0);
  q.push("a", 3);
  CHECK(q.lease_group() == Ids{1, 2, 3});
  CHECK(q.lease() == 0);
  CHECK(q.faults().empty());
  q.wait_until(2'000);
  q.push("a", 5);
  CHECK(q.lease_group() == Ids{4, 5, 6});
  CHECK(q.lease_group() == Ids{7, 8, 9});
  CHECK(q.lease() == 0);
  q.wait_until(5'000);
  CHECK(q.lease_group() == Ids{10});
  CHECK(q.faults().empty());
}

TEST_CASE("without linger nobody waits, and batch is the most of a group") {
  ScheduleFixture q = lingering(0, 3);
  q.push("a", 4).push("b", 2);
  CHECK(q.lease_group() == Ids{1, 2, 3});
  CHECK(q.lease_group() == Ids{5, 6});
  CHECK(q.lease_group() == Ids{4});
}

TEST_CASE("who takes one by one finds open what has gathered, until it is empty") {
  ScheduleFixture q = lingering(1'000);
  q.push("a", 2);
  q.wait_until(1'500);
  q.push("a");
  CHECK(q.lease() == 0);
  q.wait_until(2'000);
  CHECK(q.lease() == 1);
  q.wait_until(2'100);
  q.push("a");
  CHECK(q.serve_ids() == "2 3 4");
  q.push("a");
  CHECK(q.lease() == 0);
  q.wait_until(3'100);
  CHECK(q.serve_ids() == "5");
  CHECK(q.faults().empty());
}

TEST_CASE("what comes back takes part in the next group of its tenant, and does not hold up the others") {
  ScheduleFixture q = lingering(1'000, 2);
  q.push("a", 2);
  CHECK(q.lease_group() == Ids{1, 2});
  q.ack(2);
  q.wait_until(1'500);
  q.push("a");
  q.wait_until(2'000);
  q.give_back(1);
  CHECK(q.lease_group() == Ids{1, 3});
  q.give_back(1), q.give_back(3);
  CHECK(q.lease_group() == Ids{1, 3});
  q.wait_until(2'500);
  q.push("a");  // 4
  q.wait_until(3'000);
  q.give_back(3, true, 3'100);
  q.wait_until(3'499);
  CHECK(q.lease_group() == Ids{3, 4});
  CHECK(q.faults().empty());
}

TEST_CASE("a group costs its tenant as many turns as it has messages") {
  ScheduleFixture q = lingering(0);
  q.push("a", 3).push("b").push("b/c", 2).push("d", 9);
  CHECK(q.lease_group(2) == Ids{1, 2});
  CHECK(q.lease_group(1) == Ids{4});
  CHECK(q.lease_group(3) == Ids{7, 8, 9});
  CHECK(q.lease_group() == Ids{5, 6});
  CHECK(q.lease_group() == Ids{3});
  CHECK(q.lease_group(1) == Ids{10});
  CHECK(q.faults().empty());
}

TEST_CASE("a group ends where a limit of its tenant, or above it, is reached") {
  ScheduleFixture q = lingering(1'000);
  q.set("a", PolicyKey::concurrency, 2);
  q.push("a/x", 3).push("b", 4);
  q.wait_until(2'000);
  CHECK(q.lease_group() == Ids{1, 2});
  CHECK(q.lease_group() == Ids{4, 5, 6, 7});
  CHECK(q.lease() == 0);
  q.ack(1);
  CHECK(q.lease_group() == Ids{3});
  CHECK(q.faults().empty());
}

TEST_CASE("other terms hold at once for what is queued") {
  ScheduleFixture q;
  q.push("a", 3).push("b/c", 1);
  q.push("b", 1);
  q.set_terms({.linger_ms = 5'000});
  CHECK(q.lease() == 0);
  CHECK(q.root().parked_count == 3);
  q.set_terms({.linger_ms = 5'000, .batch_max = 3});
  CHECK(q.serve_ids() == "1 2 3");
  q.wait_until(2'000);
  q.set_terms({.linger_ms = 1'000});
  CHECK(q.serve_ids() == "4 5");
  q.push("a", 2);
  CHECK(q.lease() == 0);
  q.set_terms({.linger_ms = 9'000});
  q.wait_until(10'999);
  CHECK(q.lease() == 0);
  q.set_terms({});
  CHECK(q.serve_ids() == "6 7");
  CHECK(q.root().parked_count == 0);
  CHECK(q.faults().empty());
}

TEST_CASE("terms that changed reach many nodes in several goes, whoever comes") {
  ScheduleFixture q;
  for (int i = 0; i < 700; ++i) q.push("t" + std::to_string(i));
  q.change([&](Schedule& s, Txn& txn) { s.policy().set_terms(txn, {.linger_ms = 1'000}); });
  CHECK(q.schedule().timers().next_ms() < q.now);
  CHECK(q.faults().empty());
  q.change([&](Schedule& s, Txn& txn) { s.timers().fire(txn, q.now); });
  CHECK(q.faults().empty());
  CHECK(q.schedule().timers().next_ms() < q.now);
  q.wait_until(q.now);
  CHECK(q.lease() == 0);
  CHECK(q.root().parked_count == 700);
  q.wait_until(2'000);
  CHECK(q.root().parked_count == 0);
  CHECK(q.noted_most < 1'500);
}

TEST_CASE("a tenant that gathers keeps its window when others come below it") {
  ScheduleFixture q = lingering(1'000);
  q.push("a");
  q.set("a", PolicyKey::concurrency, 1);
  q.wait_until(1'500);
  q.push("a/b");
  CHECK(q.faults().empty());
  CHECK(q.lease() == 0);
  q.wait_until(2'000);
  CHECK(q.lease_group() == Ids{1});
  CHECK(q.faults().empty());
  q.wait_until(2'600);
  CHECK(q.lease() == 0);
  q.ack(1);
  CHECK(q.lease_group() == Ids{2});
  CHECK(q.faults().empty());
}

TEST_CASE("a window is over with its last message, however that goes") {
  ScheduleFixture q = lingering(1'000);
  q.push("a").push("b");
  q.wait_until(1'500);
  q.ack(1);  // as cancel does it
  CHECK(q.root().parked_count == 1);
  q.push("a");
  q.wait_until(2'000);
  CHECK(q.serve_ids() == "2");
  q.wait_until(2'499);
  CHECK(q.lease() == 0);
  q.wait_until(2'500);
  CHECK(q.serve_ids() == "3");
  CHECK(q.faults().empty());
}

TEST_CASE("what gathers is pushed by many and taken by one who is late, and groups are as they came") {
  // Timers that are fired late free the tenants in the order in which they had gathered.
  ScheduleFixture q = lingering(1'000);
  for (const char* tenant : {"c", "a", "b"}) q.push(tenant), q.wait_until(q.now + 10);
  q.wait_until(60'000);
  CHECK(q.serve_tenants() == "c a b");
}

TEST_CASE("a tenant that was gathering is forgotten like any other") {
  ScheduleFixture q = lingering(1'000);
  q.push("a", 2);
  q.wait_until(2'000);
  q.serve_ids();
  q.wait_until(2'000 + kIdleMs);
  CHECK(!q.schedule().tenants().find("a"));
  CHECK(q.faults().empty());
}

TEST_CASE("four producers and 200 tenants: each group is what came in its window, at most one pull late") {
  constexpr uint32_t kTenants = 200, kProducers = 4;
  constexpr int64_t kEveryMs = 15, kLingerMs = 3'000, kPullMs = 50, kEndMs = 60'000;
  constexpr size_t kMax = 100;
  ScheduleFixture q(64);
  q.set_terms({.linger_ms = kLingerMs});
  Dice dice(7);
  std::map<std::string, Ids> gathering;  // what each tenant pushed since its last group
  std::map<uint64_t, int64_t> pushed_ms;
  const int64_t start_ms = q.now;
  size_t groups = 0, messages = 0;
  int64_t latest_ms = 0;
  for (int64_t at_ms = 1; at_ms <= kEndMs; ++at_ms) {
    q.wait_until(start_ms + at_ms);
    for (uint32_t producer = 0; at_ms % kEveryMs == 0 && producer < kProducers; ++producer) {
      const std::string tenant = "t" + std::to_string(dice.roll(kTenants));
      gathering[tenant].push_back(q.add({.tenant = tenant}));
      pushed_ms[q.last_id] = q.now;
    }
    for (size_t taken = 0; at_ms % kPullMs == 0 && taken < kMax;) {
      const Ids group = q.lease_group();
      if (group.empty()) break;
      const int64_t late_ms = q.now - (pushed_ms[group[0]] + kLingerMs);
      CHECK(late_ms >= 0);
      latest_ms = std::max(latest_ms, late_ms);
      REQUIRE(group == std::exchange(gathering[q.tenant_of(group[0])], {}));
      for (const uint64_t id : group) q.ack(id);
      taken += group.size(), messages += group.size(), ++groups;
    }
  }
  CHECK(latest_ms < kPullMs);
  CHECK(messages > 14'000);
  CHECK(q.faults().empty());
  std::printf(
      "groups: %zu messages in %zu groups, the latest %lld ms after its window, a pull every %lld ms\n",
      messages, groups, static_cast<long long>(latest_ms), static_cast<long long>(kPullMs));
}

}  // namespace fq::test
