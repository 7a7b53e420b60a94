// scenarios_test - what has defeated the fairness of other queues, each with its figure (see fq-fairness(7)).
#include "tests/schedule/simulation.h"

// System.
#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <set>
// Tests.
#include "tests/knobs.h"

namespace fq::test {
namespace {

[[gnu::format(printf, 1, 2)]] void figure(const char* format, ...) {
  va_list values;
  va_start(values, format);
  std::vprintf(format, values);
  va_end(values);
  std::printf("\n");
}

/// Whose turns they were, of the whole queue, by name.
std::vector<std::string> turns_of(const Simulation& simulation) {
  std::vector<std::string> names;
  const auto& nodes = simulation.turns().nodes();
  for (const uint32_t child : nodes[0].turns_below) names.push_back(nodes[child].name);
  return names;
}

template <class Names>
size_t count_of(const Names& names, const std::string& name, size_t from = 0, size_t to = SIZE_MAX) {
  to = std::min(to, names.size());
  return static_cast<size_t>(std::count(names.begin() + static_cast<ptrdiff_t>(std::min(from, to)),
                                        names.begin() + static_cast<ptrdiff_t>(to), name));
}

const Simulation::TenantFigures& tenant_of(const Simulation& simulation, const std::string& name) {
  for (const auto& each : simulation.tenants())
    if (each.name == name) return each;
  throw std::runtime_error("no tenant " + name);
}

int64_t longest_wait(const Simulation& simulation, const std::string& name) {
  const auto& waits = tenant_of(simulation, name).waits_ms;
  return *std::max_element(waits.begin(), waits.end());
}

double jain(const std::vector<double>& shares) {
  double sum = 0, squares = 0;
  for (const double share : shares) {
    sum += share;
    squares += share * share;
  }
  return sum * sum / (static_cast<double>(shares.size()) * squares);
}

}  // namespace

TEST_CASE("one tenant splits its backlog over 1,000 keys and gets one tenant's share") {
  const auto turns =
      turns_of(simulated("at 0s push split/key{} 10 tenants 1000 run 1ms\n"
                         "at 0s push honest 2000 run 1ms\n"));
  const size_t honest = count_of(turns, "honest", 0, 4000);
  figure("scenario: split: %zu of 4000 turns to the tenant beside it", honest);
  CHECK(honest == 2000);
}

TEST_CASE("a rate-limited tenant with 100,000 messages in front delays others by its own starts only") {
  const Simulation simulation = simulated(
      "rule capped rate 10/1s\nstop 10s\n"
      "at 0s push capped 100000 run 1ms\n"
      "at 0s push other 1000 run 1ms\n");
  const size_t capped_turns = count_of(turns_of(simulation), "capped", 0, 1010);
  figure("scenario: limited in front: the last of 1000 others waits %lld ms for 1000 ms of work",
         static_cast<long long>(longest_wait(simulation, "other")));
  // Its burst of one at once, and ten a second: at 0, 100, ... 1000 ms.
  CHECK(capped_turns == 11);
  CHECK(longest_wait(simulation, "other") == 999 + 11);
  CHECK(tenant_of(simulation, "capped").served == 101);
}

TEST_CASE("a pool of 10 shared by 500 tenants gives each its turn, and no slot is idle") {
  // How many of them run at once, and whose turns they were.
  struct Members : Watcher {
    void pushed(uint64_t id, const std::string& tenant, int64_t) override {
      if (tenant[0] == 't') of[id] = tenant;
    }
    void started(uint64_t id) override {
      if (!of.contains(id)) return;
      most = std::max(most, ++running);
      turns.push_back(of[id]);
    }
    void ended(uint64_t id, bool) override { running -= of.contains(id) ? 1 : 0; }
    std::map<uint64_t, std::string> of;
    std::vector<std::string> turns;
    int running = 0, most = 0;
  } members;
  const Simulation simulation = simulated(
      "slots 30\npool p concurrency 10\nrule t* pool p\n"
      "at 0s push t{} 4 run 10ms tenants 500\n"
      "at 0s push other 4000 run 10ms\n",
      &members);
  size_t in_their_round = 0;
  for (size_t round = 0; round < 4; ++round) {
    const auto begin = members.turns.begin() + static_cast<ptrdiff_t>(500 * round);
    in_their_round += std::set(begin, begin + 500).size();
  }
  const int64_t last = longest_wait(simulation, "other");
  figure(
      "scenario: a pool: at most %d of 500 at once, %zu of 2000 in their round, the last of others waits "
      "%lld ms",
      members.most, in_their_round, static_cast<long long>(last));
  CHECK(members.most == 10);
  CHECK(in_their_round == 2000);
  CHECK(last == 1990);  // 20 slots are theirs, all the while
}

TEST_CASE("scope = queue: one tenant's endless urgent messages starve none of 20 others") {
  ScheduleFixture q;
  q.set_terms({.scope = Scope::queue, .ages = true});
  std::map<std::string, int> last, longest;
  for (int i = 0; i < 20; ++i) {
    q.push("quiet" + std::to_string(i), 100);
    last["quiet" + std::to_string(i)] = 0;
  }
  int urgent = 0;
  for (int turn = 1; turn <= 3360; ++turn) {
    q.add({.tenant = "urgent", .priority = 1});
    const std::string tenant = q.serve_tenants(1);
    if (tenant == "urgent") ++urgent;
    longest[tenant] = std::max(longest[tenant], turn - last[tenant]);
    last[tenant] = turn;
  }
  int most = 0;
  for (const auto& [tenant, turns] : longest) most = std::max(most, turns);
  figure("scenario: urgent: %d of 3360 turns to the urgent one, at most %d turns between two of another",
         urgent, most);
  CHECK(urgent == 3360 / 16 * 15 + 10);
  CHECK(most <= 16 * 21);
}

TEST_CASE("100,000 tenants with one message each are served in the order in which they came") {
  const auto turns = turns_of(simulated("at 0s push user{} 1 tenants 100000\n"));
  REQUIRE(turns.size() == 100'000);
  size_t in_place = 0;
  for (size_t i = 0; i < turns.size(); ++i) in_place += turns[i] == "user" + std::to_string(i) ? 1u : 0u;
  figure("scenario: many tenants: %zu of 100000 in their place", in_place);
  CHECK(in_place == 100'000);
}

TEST_CASE("a retry storm costs others no more turns than a backlog") {
  const auto turns =
      turns_of(simulated("at 0s push storm 500 run 1ms fails 20\n"
                         "at 0s push steady 2000 run 1ms\n"));
  const size_t steady = count_of(turns, "steady", 0, 4000);
  figure("scenario: retry storm: %zu of 4000 turns to the tenant beside it", steady);
  CHECK(steady == 2000);
}

TEST_CASE("50,000 delayed messages that are due at one instant are one tenant's turns") {
  const Simulation simulation = simulated(
      "at 0s push alarm 50000 delay 1h run 1ms\n"
      "at 1h push steady 1000 run 1ms\n"
      "at 1h push quiet 1 run 1ms\n");
  const auto turns = turns_of(simulation);
  const auto quiet = std::find(turns.begin(), turns.end(), "quiet") - turns.begin() + 1;
  figure(
      "scenario: due at once: a message that came at that instant was served at place %d, %zu of 2001 turns "
      "to a busy tenant",
      static_cast<int>(quiet), count_of(turns, "steady", 0, 2001));
  CHECK(quiet <= 3);
  CHECK(count_of(turns, "steady", 0, 2001) == 1000);
  CHECK(longest_wait(simulation, "quiet") <= 2);
}

TEST_CASE("a tenant that drains and returns at once gains nothing") {
  for (const uint32_t gap_ms : {0u, 1u, 3u}) {
    ScheduleFixture q;
    for (int i = 0; i < 9; ++i) q.push("steady" + std::to_string(i), 200);
    q.push("sly");
    size_t sly = 0;
    int64_t back_at = INT64_MAX;
    for (int turn = 0; turn < 1000; ++turn) {
      if (++q.now >= back_at) q.push("sly"), back_at = INT64_MAX;
      if (q.serve_tenants(1) != "sly") continue;
      ++sly;
      back_at = q.now + gap_ms;
      if (gap_ms == 0) q.push("sly"), back_at = INT64_MAX;
    }
    figure("scenario: drain and return after %u turns: %zu of 1000 turns to one of ten", gap_ms, sly);
    CHECK(sly <= 100);
    CHECK(sly >= 75);
  }
}

TEST_CASE("weights that change under load hold from the next turn on") {
  ScheduleFixture q;
  q.push("a", 2000).push("b", 2000);
  double worst = 0;
  for (const uint32_t weight : {1000u, 4000u, 500u, 100'000u, 1000u, 100u, 3000u}) {
    q.weigh("a", weight);
    int a = 0;
    for (int i = 0; i < 220; ++i) a += q.serve_tenants(1) == "a" ? 1 : 0;
    worst = std::max(worst, std::abs(a - 220.0 * weight / (weight + 1000.0)));
  }
  figure("scenario: weights under load: at most %.2f turns of 220 off after a change", worst);
  CHECK(worst <= 1);
  CHECK(q.faults().empty());
}

TEST_CASE("timers that all fire an hour late leave the order and the limits as they are") {
  std::string orders[2];
  for (const bool late : {false, true}) {
    ScheduleFixture q;
    q.set("capped", PolicyKey::rate, 1, 1000);
    q.set("capped", PolicyKey::burst, 5);
    q.push("capped", 100);
    CHECK(q.serve_tenants(100, "capped") == "capped capped capped capped capped");
    for (int i = 0; i < 200; ++i)
      q.add({.tenant = "t" + std::to_string(i % 7), .due_ms = q.now + 1000 + i * 37 % 200 * 10});
    q.park("limited", q.now + 2500);
    q.push("limited", 3);
    if (!late)
      for (int ms = 0; ms < 3'600'000; ms += 5000) q.wait_until(q.now + (ms < 10'000 ? 1 : 5000));
    q.wait_until(1000 + 2 * 3'600'000);
    orders[late ? 1 : 0] = q.serve_tenants();
    CHECK(q.faults().empty());
  }
  const std::string& order = orders[1];
  size_t capped = 0;
  for (size_t at = order.find("capped"); at != std::string::npos; at = order.find("capped", at + 1)) ++capped;
  figure("scenario: an hour late: %s order, %zu starts for a burst of 5",
         order == orders[0] ? "the same" : "another", capped);
  CHECK(order == orders[0]);
  CHECK(capped == 5);
}

TEST_CASE("hostile names are tenants like others") {
  const std::string names[] = {"*",
                               "a*",
                               "a",
                               "**",
                               "\x01\x02",
                               "\xff\xfe",
                               "..",
                               "%s%n",
                               "$(id)",
                               "'\"\\",
                               std::string(255, 'x'),
                               std::string(254, 'x'),
                               " ",
                               "self",
                               "0",
                               "\u202e",
                               "a/*",
                               "a/a",
                               "b/1/2/3/4/5/6/7",
                               "b/*/2/3/4/5/6/7"};
  ScheduleFixture q;
  q.set("*", PolicyKey::concurrency, 1);  // of the tenant of that name alone
  q.load_rules({{"a*", {{PolicyKey::weight, 1000, 0, {}}}}});
  std::set<std::string> served;
  for (const std::string& name : names) q.push(name, 10);
  for (size_t i = 0; i < std::size(names) * 10; ++i) {
    const uint64_t id = q.lease();
    REQUIRE(id != 0);
    served.insert(q.tenant_of(id));
    q.ack(id);
  }
  figure("scenario: hostile names: %zu of %zu served", served.size(), std::size(names));
  CHECK(served == std::set<std::string>(std::begin(names), std::end(names)));
  CHECK(q.root().parked_count == 0);
  CHECK(q.faults().empty());
}

TEST_CASE("fifty quiet tenants behind a noisy one are served by place 51") {
  ScheduleFixture q;
  q.push("noisy", 10'000);
  q.lease();  // it has the slot
  for (int i = 0; i < 50; ++i) q.push("quiet" + std::to_string(i));
  size_t last = 0;
  for (size_t place = 1; place <= 200; ++place)
    if (q.serve_tenants(1) != "noisy") last = place;
  figure("scenario: noisy neighbour: the last of 50 at place %zu", last);
  CHECK(last <= 51);
}

TEST_CASE("equal tenants that are busy have equal turns, bytes, run time") {
  const auto turns = turns_of(simulated("slots 4\nseed 11\nat 0s push t{} 300 run 1ms..1s tenants 20\n"));
  // 2000 messages of some 500 ms by four at a time; 2000 of 1 ms.
  const Simulation timed =
      simulated("fair_by time\nslots 4\nseed 11\nstop 250s\nat 0s push t{} 300 run 1ms..1s tenants 20\n");
  const Simulation sized =
      simulated("fair_by bytes\nseed 11\nstop 2s\nat 0s push t{} 300 run 1ms bytes 1..100000 tenants 20\n");
  std::vector<double> counts, times, bytes;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "t" + std::to_string(i);
    counts.push_back(static_cast<double>(count_of(turns, name, 0, 2000)));
    times.push_back(static_cast<double>(tenant_of(timed, name).run_ms));
    bytes.push_back(static_cast<double>(tenant_of(sized, name).bytes));
  }
  figure("scenario: Jain's index of 20 tenants after 100 rounds: turns %.4f, bytes %.4f, time %.4f",
         jain(counts), jain(bytes), jain(times));
  CHECK(jain(counts) >= 0.999);
  CHECK(jain(bytes) >= 0.999);
  CHECK(jain(times) >= 0.999);
}

TEST_CASE("by time a tenant in a pool that has room gets back what it was charged too much") {
  const Simulation simulation = simulated(
      "fair_by time\nstop 10m\nslots 8\nseed 7\npool p concurrency 8\nrule pooled pool p\n"
      "at 0s push pooled 9000 run 1ms..2s\nat 0s push other 300000 run 10ms\n");
  const double share = static_cast<double>(tenant_of(simulation, "pooled").run_ms) / (8 * 600'000.0);
  figure("scenario: run time of one in a pool with room, of two: %.2f %%", 100 * share);
  CHECK(std::abs(share - 0.5) < 0.002);
}

TEST_CASE("by time a tenant whose pool had no room makes up nothing") {
  // Two long runs hold the pool for five minutes, of which the other one has a slot; then both have three.
  const std::string story =
      "fair_by time\nslots 3\nseed 7\npool p concurrency 2\nrule pooled pool p\nrule holder pool p\n"
      "at 0s push holder 2 run 5m\nat 0s push pooled 3000 run 1ms..1s\nat 0s push other 3000 run 1ms..1s\n";
  const auto used_by_other = [&](const std::string& until) {
    return static_cast<double>(tenant_of(simulated(story + "stop " + until + "\n"), "other").run_ms);
  };
  const double share = (used_by_other("7m") - used_by_other("5m")) / (3 * 120'000.0);
  figure("scenario: run time of the other one once the pool has room again: %.2f %%", 100 * share);
  CHECK(share > 0.48);
}

TEST_CASE("long jobs and short ones have the same share of run time") {
  for (const int slots : {1, 8}) {
    const Simulation simulation =
        simulated("fair_by time\nstop 10m\nslots " + std::to_string(slots) +
                  "\nat 0s push long 2000 run 1s\nat 0s push short 200000 run 10ms\n"
                  "at 0s push mixed 2000 run 1ms..2s\n");
    const double all = 600'000.0 * slots;
    for (const char* name : {"long", "short", "mixed"}) {
      const double share = static_cast<double>(tenant_of(simulation, name).run_ms) / all;
      figure("scenario: run time of %s, %d at a time: %.2f %% of all", name, slots, 100 * share);
      CHECK(share == Approx(1 / 3.0).epsilon(0.05));
    }
  }
}

TEST_CASE("three to one is three and one, for ever, and never in bulk") {
  ScheduleFixture q;
  q.weigh("a", 3000);
  q.push("a", 100).push("b", 100);
  size_t others = 0, run = 0, longest = 0;
  std::string first;
  const size_t turns = is_whole_form() ? 400'000 : 40'000;
  for (size_t turn = 0; turn < turns; ++turn) {
    const std::string served = q.serve_tenants(1);
    if (turn < 12) first += (turn == 0 ? "" : " ") + served;
    run = served == "a" ? run + 1 : 0;
    others += served == "b" ? 1u : 0u;
    longest = std::max(longest, run);
    q.push(served);
  }
  figure("scenario: 3 to 1: %s ..., %zu of %zu turns to b, at most %zu of a in a row", first.c_str(), others,
         turns, longest);
  CHECK(others == turns / 4);
  CHECK(longest == 3);
}

TEST_CASE("10,000 leases that are never ended leak no slot") {
  ScheduleFixture q;
  q.set("acme", PolicyKey::concurrency, 3);
  q.push("acme/a", 5).push("acme/b", 5);
  for (int i = 0; i < 10'000; ++i) {
    REQUIRE(q.lease("", q.now + 10) != 0);
    if (i % 3 == 2) {
      REQUIRE(q.lease() == 0);
      q.wait_until(q.now + 10);
    }
  }
  q.wait_until(q.now + 10);
  size_t free = 0;
  while (q.lease() != 0) ++free;
  figure("scenario: lost leases: %zu of 3 slots left after 10000", free);
  CHECK(free == 3);
  CHECK(q.faults().empty());
}

}  // namespace fq::test
