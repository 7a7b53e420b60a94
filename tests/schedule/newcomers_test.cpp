// newcomers_test - by time: who comes is level with what others have used, not with what they were expected to.
//
// A newcomer's turn comes once each other child of its node has used, for its weight, as much as its first start
// costs, and beyond that what its own runs cost that were under way when it came, and those that are at its last
// start. Where several children take turns, one may have had a turn too early while another was charged too much:
// by as much as that one is still charged for what runs, and lies behind the clock for what has run.

// System.
#include <cmath>
#include <map>
// fq, this room.
#include "core/schedule/rings/costs.h"
// Tests.
#include "tests/knobs.h"
#include "tests/schedule/fixture.h"

namespace fq::test {
namespace {

class Busy {
 public:
  explicit Busy(uint64_t seed) : dice_(seed), slots_(1 + dice_.roll(24)) {
    q_.set_terms({.fair_by = FairBy::time});
    const uint32_t count = 1 + dice_.roll(4);
    for (uint32_t i = 0; i < count; ++i) {
      Child& child = children_[std::string(1, static_cast<char>('a' + i))];
      child.usual_ms = usual_ms();
      child.leaves = 1 + dice_.roll(3);
    }
    for (auto& [name, child] : children_) {
      child.weight = weight();
      q_.weigh(name, child.weight);
      for (uint32_t i = 0; i < slots_ + 1; ++i) push(name);
    }
  }

  void run(uint32_t starts) {
    for (; starts > 0; --starts) start();
  }
  /// Runs take another time from now on than is expected.
  void change() {
    for (auto& [name, child] : children_) child.usual_ms = usual_ms();
  }

  /// What another child has used too much before a newcomer's turn, as a part of what it may.
  double newcomer() {
    const uint32_t weight_milli = weight();
    q_.weigh("new", weight_milli);
    for (auto& [name, child] : children_) {
      child.used_ms = child.at_once_ms = child.may_ms = 0;
      if (children_.size() > 1) child.may_ms = turned_early_ms(name);
    }
    for (const auto& [at, run] : ends_) children_[run.child].may_ms += static_cast<double>(run.ms);
    q_.push("new", 1);
    has_come_ = true;
    const double cost_ms = in_ms(q_.tenant("new").tag - root().vtime);
    while (start() != "new") {}
    double worst = 0;
    for (const auto& [name, child] : children_) {
      const double may = 1 + cost_ms * child.weight + child.may_ms + child.at_once_ms;
      worst = std::max(worst, child.used_ms / may);
    }
    return worst;
  }
  std::string faults() { return q_.faults(); }

 private:
  struct Child {
    int64_t usual_ms = 1;
    uint32_t weight = kWeightDefault, leaves = 1;
    double used_ms = 0, may_ms = 0;
    double at_once_ms = 0;  // of what ran at its last start, without what ran when the newcomer came
  };
  struct Run {
    uint64_t id;
    int64_t ms;
    std::string child;
    bool after;  // the newcomer came
  };

  const Tenant& root() { return q_.schedule().tenants().at(kRootTenant); }
  /// Of a weight of one thousandth.
  static double in_ms(uint64_t turn) { return static_cast<double>(turn) / (kCostPerTick * kTicksPerMs); }
  /// Another one's turn may have come too early: while this one was charged too much for what ran, or still is.
  double turned_early_ms(const std::string& name) {
    const Tenant& tenant = q_.tenant(name);
    const uint64_t behind = root().vtime - std::min<uint64_t>(root().vtime, tenant.tag);
    return static_cast<double>(expected_ticks(tenant)) / kTicksPerMs + in_ms(behind) * tenant.weight_milli;
  }
  int64_t usual_ms() { return static_cast<int64_t>(std::pow(10, dice_.roll(4500) / 1000.0)); }
  uint32_t weight() { return 500 * (1 + dice_.roll(6)); }
  void push(const std::string& name) {
    const Child& child = children_[name];
    q_.push(child.leaves == 1 ? name : name + "/" + std::to_string(dice_.roll(child.leaves)));
  }
  int64_t draw_ms(const Child& child) {
    if (dice_.roll(50) == 0) return child.usual_ms * 100;
    return 1 + child.usual_ms * dice_.roll(100) / 50;
  }

  std::string start() {
    while (ends_.size() >= slots_) end();
    const uint64_t id = q_.lease();
    const std::string tenant = q_.tenant_of(id), name = tenant.substr(0, tenant.find('/'));
    if (name == "new") {
      ends_.emplace(q_.now + 1, Run{id, 1, "new", true});
      return name;
    }
    const int64_t ms = draw_ms(children_[name]);
    ends_.emplace(q_.now + ms, Run{id, ms, name, has_come_});
    children_[name].at_once_ms = 0;
    for (const auto& [at, run] : ends_)
      if (run.after && run.child == name) children_[name].at_once_ms += static_cast<double>(run.ms);
    push(name);
    return name;
  }
  void end() {
    const auto [at, run] = *ends_.begin();
    ends_.erase(ends_.begin());
    q_.wait_until(at);
    q_.ack(run.id);
    Child& child = children_[run.child];
    child.used_ms += static_cast<double>(run.ms);
  }

  ScheduleFixture q_;
  Dice dice_;
  uint32_t slots_;
  bool has_come_ = false;
  std::map<std::string, Child> children_;
  std::multimap<int64_t, Run> ends_;
};

}  // namespace

TEST_CASE("by time, a newcomer does not wait until what was charged too much is used up") {
  ScheduleFixture q;
  q.set_terms({.fair_by = FairBy::time});
  const bool deep = GENERATE(false, true);
  q.push("first");
  q.lease();
  q.wait_until(q.now + 10'000);
  q.ack(1);  // so that is what a run is expected to take
  const std::string busy = deep ? "acme/busy" : "busy";
  q.push(busy, 1000);
  std::vector<uint64_t> running;
  for (int i = 0; i < 16; ++i) running.push_back(q.lease());
  q.push(deep ? "acme/new" : "new");
  int64_t used_ms = 0;
  for (size_t i = 0; q.tenant_of(running.back()) == busy; ++i, used_ms += 50) {
    if (i % 16 == 0) q.wait_until(q.now + 50);
    q.ack(running[i]);
    running.push_back(q.lease());
  }
  // What its own start is expected to cost, and what ran when it came. It was all that had been charged: 160 s.
  CHECK(used_ms <= 10'000 + 17 * 50);
  CHECK(q.faults().empty());
}

TEST_CASE("by time, whoever is made level while runs of it go on does not get back what they were charged before") {
  // It comes again, is freed of a pause, or turns cost something else for a while.
  const auto way = GENERATE(std::string("comes"), "freed", "changed");
  const bool deep = GENERATE(false, true);
  CAPTURE(way, deep);
  ScheduleFixture q;
  q.set_terms({.fair_by = FairBy::time});
  const std::string name = deep ? "acme/long" : "long", top = deep ? "acme" : "long";
  q.push(name);
  q.lease();
  q.wait_until(q.now + 600'000);
  q.ack(1);  // so that is what a run of it is expected to take
  q.push(name);
  const uint64_t under_way = q.lease();
  if (way == "freed") {
    q.push(name);
    q.park(top);
  }
  q.push("busy", 100);
  for (int i = 0; i < 60 && way != "changed"; ++i) {
    const uint64_t id = q.lease();
    REQUIRE(q.tenant_of(id) == "busy");
    q.wait_until(q.now + 50'000);
    q.ack(id);
  }
  if (way == "freed") q.unpark(top);
  if (way == "comes") q.push(name);
  if (way == "changed") {
    for (const FairBy by : {FairBy::turns, FairBy::time}) {
      q.set_terms({.fair_by = by});
      q.wait_until(q.now + 1);
    }
  }
  q.change([&](Schedule& s, Txn& txn) { s.messages().end_run(txn, q.slot(under_way), 60'000'000, q.now); });
  q.ack(under_way);
  CHECK(q.tenant(top).tag >= q.schedule().tenants().at(kRootTenant).vtime);
  CHECK(q.faults().empty());
}

TEST_CASE("by time, random loads: no newcomer waits for more than was under way when it came") {
  const uint64_t first = seed_of_run() % 1'000'000'000;
  for (uint64_t seed = first; seed < first + number_of("FQ_HISTORIES", 1000); ++seed) {
    Busy busy(seed);
    busy.run(100 + static_cast<uint32_t>(seed % 300));
    if (seed % 2 == 0) busy.change();
    busy.run(static_cast<uint32_t>(seed % 30));
    const double part = busy.newcomer();
    if (part > 1) FAIL("FQ_SEED=" << seed << ": another used " << part << " of what it may");
    if (seed % 50 == 0) CHECK(busy.faults().empty());
  }
}

}  // namespace fq::test
