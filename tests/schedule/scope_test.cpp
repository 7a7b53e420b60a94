// scope_test - scope = "queue": the order of messages reaches across tenants, equals take turns, none
// starves.
#include "tests/schedule/history.h"

// System.
#include <algorithm>
#include <map>
#include <set>

namespace fq::test {
namespace {

const Terms kByRank = {.scope = Scope::queue};
const Terms kAgeing = {.scope = Scope::queue, .ages = true};

uint64_t push(ScheduleFixture& q, const std::string& tenant, int32_t priority, const std::string& key = "") {
  return q.add({.tenant = tenant, .key = key, .priority = priority});
}

/// Held against what it means, by looking at all that is ready.
void must_be_best(ScheduleFixture& q, SlotIndex taken) {
  const Schedule s = q.schedule();
  const MessageKind kind{&s.region()};
  TenantIndex from = kRootTenant;
  while (const auto leaf = s.tenants().next_leaf(from)) {
    from = TenantIndex{static_cast<uint32_t>(*leaf) + 1};
    const auto first = s.tenants().first_ready(*leaf);
    if (first && !s.tenants().is_blocked(*leaf))
      REQUIRE(kind.compare_rank(s.messages().entry(taken), s.messages().entry(*first)) <= 0);
  }
}

}  // namespace

TEST_CASE("across the queue the highest priority goes first and equals take turns") {
  ScheduleFixture q;
  q.set_terms(kByRank);
  for (const char* tenant : {"a", "b", "c"}) push(q, tenant, 0), push(q, tenant, 0);
  push(q, "c", 5), push(q, "b", 5), push(q, "c", 5), push(q, "d", -1), push(q, "a", 9);
  CHECK(q.preview_ids() == "11 8 7 9 1 3 5 2 4 6 10");
  CHECK(q.serve_ids() == "11 8 7 9 1 3 5 2 4 6 10");
  CHECK(q.faults().empty());
}

TEST_CASE("across the queue the smallest key goes first, whichever account it is in") {
  ScheduleFixture q;
  q.set_terms(kByRank);
  push(q, "acme/a", 0, "5"), push(q, "acme/b", 0, "2"), push(q, "other", 0, "3"), push(q, "acme", 0, "1");
  push(q, "acme/b", 0, "4"), push(q, "none", 0);
  CHECK(q.preview_ids() == "4 2 3 5 1 6");
  CHECK(q.serve_ids("acme") == "4 2 5 1");
  CHECK(q.serve_ids() == "3 6");
  CHECK(q.faults().empty());
}

TEST_CASE("none starves: with n tenants each has a turn at least once in 16 n, also below a busy account") {
  ScheduleFixture q;
  q.set_terms(kAgeing);
  // The account's own urgent function never ends; what else it has must come on as well.
  std::map<std::string, uint64_t> last, longest;
  for (const char* tenant : {"acme/slow", "acme/slower", "b", "c"}) {
    q.push(tenant, 400);
    last[tenant] = 0;
  }
  for (uint64_t turn = 1; turn <= 4000; ++turn) {
    push(q, "acme/urgent", 9);
    const std::string tenant = q.serve_tenants(1);
    if (turn % 500 == 0) REQUIRE(q.faults().empty());
    if (!last.contains(tenant)) continue;
    longest[tenant] = std::max(longest[tenant], turn - last[tenant]);
    last[tenant] = turn;
  }
  // Three have work at the top, and three below acme.
  CHECK(longest["b"] <= 16 * 3);
  CHECK(longest["c"] <= 16 * 3);
  CHECK(longest["acme/slow"] <= 16 * 3 * 3);
  CHECK(longest["acme/slower"] <= 16 * 3 * 3);
  CHECK(longest["b"] > 16);
}

TEST_CASE("who takes the turns of one tenant uses up none of those by age that the others have") {
  ScheduleFixture q;
  q.set_terms(kAgeing);
  push(q, "low", 0);
  for (int i = 0; i < 100; ++i) push(q, "urgent", 9), push(q, "x/busy", 5);
  push(q, "x/low", 0);
  // Three have work at the top, and two below x.
  std::set<std::string> of_all, of_x;
  for (uint32_t turn = 1; turn <= 3 * kTurnsByAge; ++turn) {
    of_all.insert(q.serve_tenants(1));
    of_x.insert(q.serve_tenants(1, "x"));
    if (turn == 2 * kTurnsByAge) CHECK(of_x.contains("x/low"));
  }
  CHECK(of_all.contains("low"));
  CHECK(q.faults().empty());
}

TEST_CASE("what lacks room in a pool hides nothing that can be served") {
  ScheduleFixture q;
  q.load_rules({{"*/api", {{PolicyKey::pool, 0, 0, "p"}}}}, {{"p", {{PolicyKey::concurrency, 1, 0, {}}}}});
  q.set_terms(kByRank);
  push(q, "a/api", 9), push(q, "a/api", 9), push(q, "a/web", 1), push(q, "b", 5), push(q, "c/api", 8);
  push(q, "d", 0);
  CHECK(q.lease() == 1);
  CHECK(q.faults().empty());
  CHECK(q.preview_ids() == "4 3 6");
  CHECK(q.lease() == 4);
  q.ack(1);
  CHECK(q.preview_ids() == "2 5 3 6");
  CHECK(q.lease() == 2);
  CHECK(q.lease() == 3);
  CHECK(q.lease() == 6);
  CHECK(q.lease() == 0);
  q.ack(2);
  CHECK(q.lease() == 5);
  CHECK(q.faults().empty());
}

TEST_CASE("who is paused ages from its first message on, also where its account is split meanwhile") {
  ScheduleFixture q;
  q.set_terms(kAgeing);
  for (int i = 0; i < 60; ++i) push(q, "busy", 9);
  q.park("paused");
  const uint64_t first = push(q, "paused", 0);
  const uint64_t second = push(q, "later", 0);
  push(q, "paused/below", -1);
  q.unpark("paused");
  std::vector<uint64_t> by_age;
  for (uint64_t turn = 1; turn <= 3 * kTurnsByAge; ++turn) {
    const uint64_t id = q.lease();
    if (turn % kTurnsByAge == 0) by_age.push_back(id);
  }
  // The busy one came first of all.
  REQUIRE(by_age.size() == 3);
  CHECK(q.tenant_of(by_age[0]) == "busy");
  CHECK(by_age[1] == first);
  CHECK(by_age[2] == second);
  CHECK(q.faults().empty());
}

TEST_CASE("the scope changes while messages wait, there and back, and nobody makes up for it") {
  ScheduleFixture q;
  for (int i = 0; i < 40; ++i) push(q, "high", 1), push(q, "low", 0), push(q, "lower/x", -1);
  CHECK(q.serve_tenants(3) == "high low lower/x");
  q.set_terms(kByRank);
  CHECK(q.faults().empty());
  for (int i = 0; i < 30; ++i) REQUIRE(q.serve_tenants(1) == "high");
  q.set_terms({});
  CHECK(q.faults().empty());
  CHECK(q.serve_tenants(6) == "low lower/x high low lower/x high");
  q.set_terms(kByRank);
  CHECK(q.serve_tenants(2) == "high high");
  CHECK(q.faults().empty());
}

TEST_CASE(
    "a weight that is set below an account changes which of equals is next, and nothing is wrong with that") {
  ScheduleFixture q;
  q.set_terms(kByRank);
  q.push("acme/a", 3).push("acme/b", 3).push("other", 3);
  CHECK(q.serve_tenants(4) == "acme/a other acme/b other");
  q.weigh("acme/b", 100'000);  // a was next
  CHECK(q.faults().empty());
  CHECK(q.preview_ids() == "5 9 6 2 3");
  q.change([&](Schedule& s, Txn& txn) {
    s.messages().finish(txn, q.slot(2), RecordType::cancelled, {3, q.now, q.now});
  });
  CHECK(q.faults().empty());
  CHECK(q.serve_ids() == "5 9 6 3");
}

TEST_CASE("random histories across the queue: each turn is for the best that can be served") {
  const uint32_t seed = GENERATE(range(1u, 25u));
  INFO("seed " << seed);
  Dice dice(seed);
  ScheduleFixture q;
  if (seed % 3 == 0) load_random_pools(q, dice);
  q.set_terms(kByRank);
  std::set<uint64_t> leased;
  for (int i = 0; i < 1500; ++i) {
    q.now += dice.roll(10) == 0 ? dice.roll(300) : 0;
    q.wait_until(q.now);
    const uint32_t what = dice.roll(12);
    if (what < 5) {
      const std::string key(dice.roll(4) == 0 ? 1 + dice.roll(3) : 0, static_cast<char>('j' + dice.roll(2)));
      push(q, kPaths[dice.roll(10)], static_cast<int32_t>(dice.roll(4)) - 1, key);
    } else if (what < 9) {
      const auto next = q.schedule().turns().next(kRootTenant);
      if (next) must_be_best(q, *next);
      const std::string preview = q.preview_ids();
      const uint64_t id = q.lease();
      REQUIRE(preview.substr(0, preview.find(' ')) == (id == 0 ? "" : std::to_string(id)));
      if (id != 0) leased.insert(id);
    } else if (what < 11 && !leased.empty()) {
      const uint64_t id = *std::next(leased.begin(), dice.roll(static_cast<uint32_t>(leased.size())));
      leased.erase(id);
      if (dice.roll(2) == 0)
        q.ack(id);
      else
        q.give_back(id);
    } else {
      q.make_room({.tenants = 20, .text_cells = 90, .controls = 4});
      q.change([&](Schedule& s, Txn& txn) { random_setting(s, txn, dice, q.now); });
    }
    if (i % 50 == 0) REQUIRE(q.faults().empty());
  }
  CHECK(q.faults().empty());
}

TEST_CASE("a preview across the queue is what happens, turns by age too") {
  ScheduleFixture q;
  Dice dice(3);
  q.set_terms(kAgeing);
  for (int i = 0; i < 400; ++i) push(q, kPaths[dice.roll(10)], static_cast<int32_t>(dice.roll(5)));
  CHECK(q.serve_tenants(7).size() > 7);
  const std::string preview = q.preview_ids();
  CHECK(q.serve_ids() == preview);
}

}  // namespace fq::test
