// newcomers_test - by time: who comes is level with what others have used, not with what they were expected to.
//
// A newcomer's turn comes once each other child of its node has used, for its weight, as much as its first start
// costs, and beyond that what its own runs cost that were under way when it came, and one more. Where several
// children take turns, one may have had a turn too early while another was charged too much: by as much as that.

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
      child.used_ms = child.longest_ms = 0;
      const uint64_t ticks = children_.size() == 1 ? 0 : expected_ticks(q_.tenant(name));
      child.may_ms = static_cast<double>(ticks) / kTicksPerMs;
    }
    for (const auto& [at, run] : ends_) children_[run.child].may_ms += static_cast<double>(run.ms);
    q_.push("new", 1);
    has_come_ = true;
    const Tenant& root = q_.schedule().tenants().at(kRootTenant);
    const double cost_ms =
        static_cast<double>(q_.tenant("new").tag - root.vtime) / (kCostPerTick * kTicksPerMs);
    while (start() != "new") {}
    double worst = 0;
    for (const auto& [name, child] : children_) {
      const double may = 1 + cost_ms * child.weight + child.may_ms + child.longest_ms;
      worst = std::max(worst, child.used_ms / may);
    }
    return worst;
  }
  std::string faults() { return q_.faults(); }

 private:
  struct Child {
    int64_t usual_ms = 1;
    uint32_t weight = kWeightDefault, leaves = 1;
    double used_ms = 0, may_ms = 0, longest_ms = 0;
  };
  struct Run {
    uint64_t id;
    int64_t ms;
    std::string child;
    bool after;  // the newcomer came
  };

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
    if (run.after) child.longest_ms = std::max(child.longest_ms, static_cast<double>(run.ms));
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
