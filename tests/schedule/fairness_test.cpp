// Who is served when: turns, weights, newcomers, nesting.
#include "tests/schedule/fixture.h"

// System.
#include <cmath>
#include <map>

namespace fq::test {
namespace {

std::map<std::string, int> count_words(const std::string& words) {
  std::map<std::string, int> counts;
  for (size_t at = 0; at < words.size();) {
    const size_t end = std::min(words.find(' ', at), words.size());
    ++counts[words.substr(at, end - at)];
    at = end + 1;
  }
  return counts;
}

}  // namespace

TEST_CASE("tenants take turns until each has nothing more") {
  ScheduleFixture q;
  q.push("client_1", 3).push("client_2", 2).push("client_3", 1);
  CHECK(q.serve_tenants() == "client_1 client_2 client_3 client_1 client_2 client_1");
  CHECK(q.faults().empty());
}

TEST_CASE("a flood delays another tenant's message by one turn") {
  ScheduleFixture q;
  q.push("flood", 5000).push("quiet", 1);
  CHECK(q.serve_tenants(3) == "flood quiet flood");
}

TEST_CASE("a newcomer is served after everyone who waits has had one turn") {
  ScheduleFixture q;
  q.push("a", 5).push("b", 5).push("c", 5);
  CHECK(q.serve_tenants(1) == "a");
  q.push("d", 2);
  CHECK(q.serve_tenants(5) == "b c a d b");
}

TEST_CASE("who was idle has saved up nothing") {
  ScheduleFixture q;
  q.push("sly", 1).push("busy", 100);
  CHECK(q.serve_tenants(40).starts_with("sly busy busy"));
  q.push("sly", 10);
  CHECK(q.serve_tenants(6) == "busy sly busy sly busy sly");
}

TEST_CASE("who leaves and comes back after each message gains nothing") {
  ScheduleFixture q;
  q.push("steady_1", 50).push("steady_2", 50).push("sly", 1);
  int sly = 0;
  for (int i = 0; i < 30; ++i) {
    if (q.serve_tenants(1) == "sly") {
      ++sly;
      q.push("sly", 1);
    }
  }
  CHECK(sly == 10);
}

TEST_CASE("turns are shared by weight") {
  ScheduleFixture q;
  q.push("one", 400).push("three", 400).push("half", 400);
  q.weigh("three", 3000);
  q.weigh("half", 500);
  auto counts = count_words(q.serve_tenants(450));
  CHECK(counts["one"] >= 99);
  CHECK(counts["one"] <= 101);
  CHECK(std::abs(counts["three"] - 300) <= 1);
  CHECK(std::abs(counts["half"] - 50) <= 1);
}

TEST_CASE("the length of a turn is exact for common weights and close for all") {
  static constexpr uint32_t kTenths[] = {1,  2,  3,  4,  5,  6,   8,   10,  20,   30,    40,
                                         50, 60, 70, 80, 90, 100, 120, 150, 1000, 10'000};
  for (const uint32_t tenths : kTenths) CHECK(turn_of(tenths * 100) * tenths == kTurn / 100);
  for (uint32_t weight = kWeightMin; weight <= kWeightMax; ++weight) {
    const uint64_t lost = kTurn - turn_of(weight) * weight;
    if (lost > kTurn / 2500) FAIL("weight " << weight << " is off by " << lost);
  }
}

TEST_CASE("between two turns of a busy tenant another gets at most its weight's share") {
  const uint32_t seed = GENERATE(range(1u, 12u));
  Dice dice(seed);
  ScheduleFixture q(64);
  std::vector<uint32_t> weights;
  for (uint32_t i = 0; i < 6; ++i) {
    weights.push_back(100 + dice.roll(5000));
    q.push("t" + std::to_string(i), 1500);
    q.weigh("t" + std::to_string(i), weights[i]);
  }
  std::vector<std::vector<uint32_t>> since(6, std::vector<uint32_t>(6, 0));
  for (int turn = 0; turn < 1500; ++turn) {
    const auto served = static_cast<size_t>(q.serve_tenants(1).at(1) - '0');
    for (size_t other = 0; other < 6; ++other) {
      const auto bound =
          static_cast<uint32_t>(std::ceil(double(weights[other]) / double(weights[served]))) + 1;
      INFO("seed " << seed << " " << other << " between turns of " << served);
      if (other != served) REQUIRE(since[served][other] <= bound);
      since[served][other] = 0;
      since[other][served]++;
    }
  }
}

TEST_CASE("with equal weights it is exactly one turn each whatever comes and goes") {
  const uint32_t seed = GENERATE(range(1u, 6u));
  Dice dice(seed);
  ScheduleFixture q;
  q.push("steady", 3000);
  std::map<std::string, int> since;
  for (int i = 0; i < 2000; ++i) {
    if (dice.roll(2) == 0) q.push("t" + std::to_string(dice.roll(9)), 1 + dice.roll(3));
    const std::string served = q.serve_tenants(1);
    if (served == "steady") since.clear();
    if (served != "steady") REQUIRE(++since[served] == 1);
  }
  CHECK(q.faults().empty());
}

TEST_CASE("an account that splits its work over many functions gains nothing") {
  ScheduleFixture q;
  for (int i = 0; i < 20; ++i) q.push("sybil/f" + std::to_string(i), 5);
  q.push("honest", 50);
  int honest = 0;
  for (int i = 0; i < 60; ++i) honest += q.serve_tenants(1) == "honest" ? 1 : 0;
  CHECK(honest == 30);
}

TEST_CASE("turns hold at every level down to the eighth") {
  ScheduleFixture q;
  q.push("a/b/c/d/e/f/g/h", 2).push("a/b/c/d/e/f/g/i", 1).push("a/b/x", 2).push("z", 3);
  CHECK(q.serve_tenants() == "a/b/c/d/e/f/g/h z a/b/x z a/b/c/d/e/f/g/i z a/b/x a/b/c/d/e/f/g/h");
  CHECK(q.faults().empty());
}

TEST_CASE("a tenant's own messages are one more child beside those below it") {
  ScheduleFixture q;
  q.push("acme", 3).push("acme/reports", 3).push("other", 2);
  CHECK(q.faults().empty());
  CHECK(q.serve_tenants() == "acme other acme/reports other acme acme/reports acme acme/reports");
}

TEST_CASE("messages pushed to an inner node wait in its self child") {
  ScheduleFixture q;
  q.push("acme/reports", 1).push("acme", 2);
  CHECK(q.tenant_of(2) == "acme");
  CHECK(q.serve_tenants(9, "acme") == "acme/reports acme acme");
  CHECK(q.faults().empty());
}

TEST_CASE("a leaf that becomes inner keeps its place, weight and park") {
  ScheduleFixture q;
  q.push("a", 2).push("b", 2);
  q.weigh("b", 4000);
  q.park("b", 5000);
  q.push("b/c", 2);
  CHECK(q.tenant("b").weight_milli == 4000);
  CHECK(q.serve_tenants() == "a a");
  CHECK(q.wait_until(5000) == 1);
  CHECK(q.serve_tenants() == "b b/c b b/c");
  CHECK(q.faults().empty());
}

TEST_CASE("a park at any level takes all below it out of the turns") {
  for (const std::string level : {"a", "a/b", "a/b/c"}) {
    ScheduleFixture q;
    q.push("a/b/c", 2).push("x", 2);
    q.park(level);
    CHECK(q.lease("a/b/c") == 0);
    CHECK(q.serve_tenants() == "x x");
    q.push("a/b/c", 1);
    CHECK(q.lease() == 0);
    q.unpark(level);
    CHECK(q.serve_tenants() == "a/b/c a/b/c a/b/c");
    CHECK(q.faults().empty());
  }
}

TEST_CASE("a tenant's pattern never limits or stops the whole queue") {
  ScheduleFixture q;
  q.load_rules({{"*", {{PolicyKey::concurrency, 1, 0, {}}}}});
  q.push("a", 2).push("b", 2);
  CHECK(q.tenant_of(q.lease()) == "a");
  CHECK(q.tenant_of(q.lease()) == "b");
  CHECK(q.lease() == 0);
  CHECK(q.faults().empty());
}

TEST_CASE("a turn below one tenant leaves the others' turns alone") {
  ScheduleFixture q;
  q.push("a/x", 3).push("a/y", 3).push("b", 3);
  CHECK(q.serve_tenants(3, "a") == "a/x a/y a/x");
  CHECK(q.serve_tenants() == "a/y b a/x b a/y b");
}

}  // namespace fq::test
