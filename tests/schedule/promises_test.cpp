// promises_test - what the scheduler promises, held against random trees, weights, arrivals and limits.
//
// A history is a seed: it makes a scenario, which is run under virtual time while a ledger, the shares of
// siblings and the log of turns look on. FQ_SEED=n runs one again, FQ_HISTORIES=n more of them, from that
// seed if it is given. A failing one prints its scenario, for `simulate`.
#include "tests/schedule/fair_shares.h"
#include "tests/schedule/ledger.h"

// System.
#include <cmath>
#include <cstdio>
// Tests.
#include "tests/knobs.h"

namespace fq::test {
namespace {

class RandomScenario {
 public:
  explicit RandomScenario(uint64_t seed) : random_(seed) {
    scenario_.seed = seed % 1'000'000'000;
    scenario_.slots = below(3) == 0 ? 1 : 1 + below(6);
    scenario_.fair_by = static_cast<FairBy>(below(3));
    for (uint64_t i = 2 + below(8); i > 0; --i) tenants_.push_back(tenant());
    for (uint64_t i = below(2) == 0 ? 0 : 1 + below(3); i > 0; --i) scenario_.pools.push_back(pool(i));
    for (uint64_t i = below(4); i > 0; --i) scenario_.rules.push_back(rule());
    for (const std::string& each : tenants_)
      if (below(2) == 0) change(each, 0, {weight()});
    for (uint64_t i = 2 + below(10); i > 0; --i) scenario_.pushes.push_back(push());
    if (below(3) == 0) return;
    for (uint64_t i = below(8); i > 0; --i) change_something();
  }
  const Scenario& get() const { return scenario_; }

 private:
  uint32_t below(uint64_t n) { return static_cast<uint32_t>(random_() % n); }

  std::string tenant() {
    static const char* const names[] = {"a", "b", "c", "d", "ab", "x*y"};
    std::string path = names[below(std::size(names))];
    while (below(3) == 0 && path.size() < 12) path += std::string("/") + names[below(std::size(names))];
    return path;
  }
  std::string some_node() {
    std::string path = tenants_[below(tenants_.size())];
    const size_t slash = path.find('/');
    if (slash != std::string::npos && below(2) == 0) path = path.substr(0, slash);
    return path;
  }
  PolicyValue weight() {
    // Evenly over the exponents: as often 0.1 to 1 as 100 to 1000.
    const double weight = std::pow(10.0, static_cast<double>(below(4001)) / 1000.0 - 1.0);
    static const int64_t whole[] = {100, 500, 1000, 2000, 3000, 7000, 1'000'000};
    const bool is_whole = below(2) == 0;
    return {
        PolicyKey::weight, is_whole ? whole[below(std::size(whole))] : std::llround(weight * 1000), 0, {}};
  }
  PolicyValue limit() {
    static const int64_t spans[] = {1, 7, 100, 1000, 60'000};
    switch (below(3)) {
      case 0:
        return {PolicyKey::concurrency, 1 + below(4), 0, {}};
      case 1:
        return {PolicyKey::burst, 1 + below(8), 0, {}};
      default:
        return {PolicyKey::rate, 1 + below(100), spans[below(std::size(spans))], {}};
    }
  }
  PoolRule pool(uint64_t i) {
    PoolRule pool{"p" + std::to_string(i), {limit()}};
    if (below(3) == 0) pool.values.push_back(limit());
    return pool;
  }
  /// Now and then one that there is not.
  PolicyValue in_pool() { return {PolicyKey::pool, 0, 0, "p" + std::to_string(1 + below(4))}; }
  TenantRule rule() {
    static const char* const patterns[] = {"*", "a*", "*/b", "a/*", "x*y", "c", "*/*/*", "*b"};
    TenantRule rule{patterns[below(std::size(patterns))], {limit()}};
    if (below(2) == 0) rule.values.push_back(weight());
    if (!scenario_.pools.empty() && below(3) != 0) rule.values.push_back(in_pool());
    return rule;
  }
  Scenario::Push push() {
    Scenario::Push push{.at_ms = below(3) == 0 ? 0 : below(2000), .tenant = tenants_[below(tenants_.size())]};
    push.count = 1 + below(below(3) == 0 ? 60 : 8);
    push.run_min_ms = below(3) == 0 ? 0 : below(20);
    push.run_max_ms = push.run_min_ms + (below(3) == 0 ? 0 : below(60));
    if (below(2) == 0) push.bytes_max = 1 + below(below(2) == 0 ? 200 : 1'000'000);
    if (below(4) == 0) push.delay_ms = below(1500);
    if (below(6) == 0) push.fails = 1 + below(3);
    if (below(4) == 0) push.every_ms = 1 + below(300), push.times = 2 + below(4);
    return push;
  }
  void change(const std::string& node, int64_t at_ms, const PolicyValues& values) {
    scenario_.changes.push_back({at_ms, node, {values, {}}});
  }
  void change_something() {
    const int64_t at_ms = below(2) == 0 ? 0 : below(2500);
    std::string node = below(8) == 0 ? "" : some_node();
    const PolicyValue value = below(3) == 0   ? PolicyValue{PolicyKey::paused, 1, 0, {}}
                              : below(4) == 0 ? PolicyValue{PolicyKey::limited, below(900), 0, {}}
                              : below(4) == 0 ? in_pool()
                                              : (below(4) == 0 ? weight() : limit());
    if (value.key == PolicyKey::pool) node = some_node();
    change(node, at_ms, {value});
    const bool for_ever = value.key != PolicyKey::paused && below(2) == 0;
    if (!for_ever) scenario_.changes.push_back({at_ms + below(1500), node, {{}, {value.key}}});
  }

  std::mt19937_64 random_;
  Scenario scenario_;
  std::vector<std::string> tenants_;
};

/// All of them, and the structures themselves now and then.
class Everybody : public Watcher {
 public:
  explicit Everybody(const Scenario& scenario) : ledger(scenario) {}
  void attach(Simulation& simulation) {
    ledger.attach(simulation);
    shares.attach(simulation);
    queue_ = &simulation.queue();
  }
  void pushed(uint64_t id, const std::string& tenant, int64_t due_ms) override {
    ledger.pushed(id, tenant, due_ms);
  }
  void changed(const std::string& tenant, const PolicyPatch& patch) override {
    ledger.changed(tenant, patch);
    shares.changed(tenant, patch);
  }
  void before_start(uint64_t id) override {
    ledger.before_start(id);
    shares.before_start(id);
  }
  void started(uint64_t id) override {
    ledger.started(id);
    shares.started(id);
    ++starts;
  }
  void ended(uint64_t id, bool comes_back) override {
    ledger.ended(id, comes_back);
    shares.ended(id, comes_back);
  }
  void settled(uint32_t free_slots) override {
    ledger.settled(free_slots);
    if (++settled_ % 32 == 0 && damage.empty()) damage = queue_->faults();
  }

  Ledger ledger;
  FairShares shares;
  std::string damage;
  uint64_t starts = 0;

 private:
  ScheduleFixture* queue_ = nullptr;
  uint64_t settled_ = 0;
};

}  // namespace

TEST_CASE("random schedules keep shares, bound, limits, order and wake-ups") {
  const uint64_t one = number_of("FQ_SEED", 0);
  const uint64_t first = one != 0 ? one : std::random_device{}() | 1U;
  const uint64_t count = number_of("FQ_HISTORIES", one != 0 ? 1 : 300);
  uint64_t starts = 0, windows = 0, pairs = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Scenario scenario = RandomScenario(seed).get();
    Everybody everybody(scenario);
    Simulation simulation(scenario, &everybody, 4);
    everybody.attach(simulation);
    simulation.run();
    if (everybody.damage.empty()) everybody.damage = simulation.queue().faults();
    std::string fault = everybody.ledger.fault() + everybody.shares.fault() + everybody.damage;
    if (!simulation.turns().breaches().empty()) fault += simulation.turns().breaches()[0];
    if (!fault.empty()) FAIL("FQ_SEED=" << seed << ": " << fault << "\n" << to_text(scenario));
    starts += everybody.starts;
    windows += simulation.turns().windows();
    pairs += everybody.shares.pairs_compared();
  }
  std::printf("schedules: FQ_SEED=%llu, %llu histories, %llu starts, %llu windows, %llu pairs of siblings\n",
              static_cast<unsigned long long>(first), static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(starts), static_cast<unsigned long long>(windows),
              static_cast<unsigned long long>(pairs));
  CHECK(starts > 0);
  // One history alone may have neither.
  if (count >= 100) CHECK((windows > 0 && pairs > 0));
}

}  // namespace fq::test
