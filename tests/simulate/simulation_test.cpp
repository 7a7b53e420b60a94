// simulation_test - invented loads under a policy: waits, shares, limits, and that the same is the same.
#include "tests/simulate/fixture.h"

namespace fq::test {

namespace {

constexpr int64_t kSecond = 1'000;

Policy with(PolicyKey key, int64_t number, const std::string& tenant = "") {
  Policy policy;
  if (tenant.empty()) policy.queue.push_back({key, number, 0, {}});
  if (!tenant.empty()) policy.tenants.push_back({tenant, {{key, number, 0, {}}}});
  return policy;
}

/// Two tenants that always have more than one slot can serve.
std::vector<LoadSpec> two_greedy() { return {{"a", 2, kSecond, kSecond, 0}, {"b", 2, kSecond, kSecond, 0}}; }

}  // namespace

TEST_CASE("a load is the same each time that it is played") {
  const std::vector<LoadSpec> load = {{"a", 5, kSecond, 150, 0}, {"b", 1, kSecond, 150, 0}};
  const Report once = simulated(load), again = simulated(load);
  CHECK(waits(once, "a") == waits(again, "a"));
  CHECK(waits(once, "b") == waits(again, "b"));
  CHECK(once.all.count == Approx(6 * 3600).epsilon(0.05));
}

TEST_CASE("nobody waits where there are slots enough") {
  const Report report = simulated({{"a", 1, kSecond, 100, 0}}, 100);
  CHECK(report.all.wait->max_ms == 0);
  CHECK(report.left == 0);
}

TEST_CASE("a queue of one slot waits as the theory of queues says") {
  // Runs of 0.5 s, two in three seconds: half of x/(1-x) of a run on average, with x = 1/3.
  const Report report = simulated({{"a", 2, 3 * kSecond, 500, 0}}, 1, {}, 24 * 3600 * kSecond);
  CHECK(report.all.wait->p50_ms == 0);
  CHECK(report.all.wait->p99_ms > 500);
  CHECK(report.all.wait->p99_ms < 1'500);
}

TEST_CASE("a weight is a part of the turns, and what that promises is told beside it") {
  const Report equal = simulated(two_greedy());
  CHECK(figures_of(equal, "a").share.value() == Approx(0.5).margin(0.01));
  CHECK(equal.jain.value() > 0.99);
  const Report heavy = simulated(two_greedy(), 1, weight("a", 3'000));
  CHECK(figures_of(heavy, "a").share.value() == Approx(0.75).margin(0.01));
  CHECK(figures_of(heavy, "a").entitled.value() == Approx(0.75).margin(0.01));
  CHECK(figures_of(heavy, "a").wait->p50_ms < figures_of(equal, "a").wait->p50_ms);
  CHECK(figures_of(heavy, "b").wait->p50_ms > figures_of(equal, "b").wait->p50_ms);
}

TEST_CASE("a weight of the load itself is set before its first message") {
  std::vector<LoadSpec> load = two_greedy();
  load[0].weight_milli = 3'000;
  CHECK(figures_of(simulated(load), "a").share.value() == Approx(0.75).margin(0.01));
}

TEST_CASE("an account's weight holds for all that is below it") {
  const std::vector<LoadSpec> load = {
      {"x/1", 2, kSecond, kSecond, 0}, {"x/2", 2, kSecond, kSecond, 0}, {"y", 2, kSecond, kSecond, 0}};
  const Report report = simulated(load);
  for (const char* of_x : {"x/1", "x/2"}) {
    CHECK(figures_of(report, of_x).share.value() == Approx(0.25).margin(0.01));
    CHECK(figures_of(report, of_x).entitled.value() == Approx(0.25).margin(0.01));
  }
  CHECK(figures_of(report, "y").entitled.value() == Approx(0.5).margin(0.01));
}

TEST_CASE("who asks for little is owed little") {
  const Report report = simulated({{"greedy", 20, kSecond, 100, 0}, {"modest", 1, kSecond, 100, 0}});
  CHECK(figures_of(report, "modest").share.value() == Approx(0.1).margin(0.01));
  CHECK(figures_of(report, "modest").entitled.value() < 0.2);
  CHECK(figures_of(report, "modest").wait->p99_ms < kSecond);
}

TEST_CASE("turns that are paid in time are shared in time") {
  const std::vector<LoadSpec> load = {{"long", 2, kSecond, 900, 0}, {"short", 20, kSecond, 100, 0}};
  const Report turns = simulated(load);
  const Report time = simulated(load, 1, with(PolicyKey::fair_by, static_cast<int64_t>(FairBy::time)));
  CHECK(figures_of(turns, "short").share.value() == Approx(0.5).margin(0.02));
  CHECK(figures_of(time, "short").share.value() == Approx(0.5).margin(0.02));
  CHECK(figures_of(time, "short").wait->p50_ms < figures_of(turns, "short").wait->p50_ms);
}

TEST_CASE("a limit on what runs at once holds a tenant back and no other") {
  const std::vector<LoadSpec> load = {{"a", 4, kSecond, kSecond, 0}, {"b", 4, kSecond, kSecond, 0}};
  const Report report = simulated(load, 10, with(PolicyKey::concurrency, 1, "a"), 600 * kSecond);
  CHECK(figures_of(report, "b").wait->p99_ms < 2 * kSecond);
  CHECK(figures_of(report, "a").wait->p50_ms > 100 * kSecond);
}

TEST_CASE("a limit on what may be held refuses pushes, which are counted") {
  const Report report =
      simulated({{"a", 4, kSecond, kSecond, 0}}, 1, with(PolicyKey::max_messages, 5), 600 * kSecond);
  CHECK(report.refused > 1'500);
  CHECK(report.all.wait->max_ms <= 6 * kSecond);
}

TEST_CASE("what never starts has waited until the last thing happened, whatever timers fire behind that") {
  const int64_t for_ms = 10 * kSecond;
  Policy policy = with(PolicyKey::paused, 1, "a");
  // Somebody who is in no load, and whose tokens come once an hour.
  policy.tenants.push_back({"limited", {{PolicyKey::rate, 1'000, 3'600'000, {}}}});
  const Report report =
      simulated({{"a", 1, kSecond, kSecond, 0}, {"b", 1, kSecond, kSecond, 0}}, 1, policy, for_ms);
  CHECK(report.left == figures_of(report, "a").count);
  CHECK(report.left > 0);
  CHECK(figures_of(report, "a").wait->max_ms <= for_ms + 10 * kSecond);
}

TEST_CASE("nor is it a thing that happens that the time of what has ended would be over") {
  Story story;
  Event pushed = Story::about("pushed", 1, "b", 0);  // with a TTL
  pushed.bytes = 1;
  pushed.expires_wall_ms = kNoon + 7 * 86'400 * kSecond;
  story.add(pushed).push(2, "a", 0).run(1, "b", 1'000, 2'000).finish();
  const Report report = story.by_turn(1, with(PolicyKey::paused, 1, "a"));
  CHECK(report.left == 1);
  CHECK(figures_of(report, "a").wait->max_ms <= 10 * kSecond);
}

TEST_CASE("what can never start is counted, and the simulation ends") {
  Story story;
  story.push(1, "a", 0)
      .run(1, "a", 0, 10)
      .set("", PolicyKey::paused, 1, 20)
      .push(2, "a", 30)
      .run(2, "a", 40, 50);
  story.finish();
  CHECK(story.by_turn().left == 1);
}

TEST_CASE("loads of nothing and of too much are refused") {
  CHECK(InventedLoad::make({}, kSecond).error().text ==
        "--load: no message comes in this time; write a longer --for");
  CHECK_FALSE(InventedLoad::make({{"a", 1, 86'400'000, 0, 0}}, kSecond).ok());
  CHECK(InventedLoad::make({{"a", 1, kSecond, 0, 0}}, kSecond).ok());
  CHECK(InventedLoad::make({{"a", 10'000'000, kSecond, 0, 0}}, kSecond).ok());
  CHECK(InventedLoad::make({{"a", 10'000'001, kSecond, 0, 0}}, kSecond)
            .error()
            .text.find("the limit is 10000000") != std::string::npos);
  CHECK_FALSE(InventedLoad::make({{"a", UINT32_MAX, 1, 0, 0}}, 36'500ll * 86'400 * kSecond).ok());
}

TEST_CASE("a backlog of many grows the ground that it lies on") {
  const Report report = simulated({{"a", 1'000, kSecond, kSecond, 0}}, 500, {}, 100 * kSecond);
  CHECK(report.all.count == Approx(100'000).epsilon(0.02));
  CHECK(report.all.wait->max_ms == Approx(100 * kSecond).epsilon(0.05));
}

}  // namespace fq::test
