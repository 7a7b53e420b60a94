// fair_shares - siblings that have work at the same time are served by their weights, at every moment.
//
// Two children of a node that both keep their seats over a span of time and are not passed over: what each
// got in it, in what turns cost (see core/schedule/rings/costs.h) over its weight, differs by at most one
// start of each. Why: a seat's tag lies between the node's virtual time v and v plus one start of its own; so
// over the span, in which v moved by V, each got at least V less one start, and at most V and one. Who was
// ahead when the span began, for what it had used before, stays ahead by no more than that. Where costs are
// known at the end only, so many starts as run at a time may be wrong at a moment, and v lags by them.
#pragma once

// System.
#include <map>
#include <string>
#include <vector>
// Tests.
#include "tests/schedule/simulation.h"

namespace fq::test {

class FairShares : public Watcher {
 public:
  void attach(Simulation& simulation);

  void changed(const std::string&, const PolicyPatch&) override { groups_.clear(); }
  void before_start(uint64_t id) override;
  void started(uint64_t id) override;
  void ended(uint64_t id, bool comes_back) override;

  const std::string& fault() const { return fault_; }
  uint64_t pairs_compared() const { return pairs_compared_; }

 private:
  struct Spread {
    int64_t at_first = 0;                      // how far the smaller index was ahead
    int64_t now = 0, lowest = 0, highest = 0;  // since then
  };
  /// The children of a node that could be served, with the sequences of their seats.
  struct Group {
    std::map<uint32_t, uint64_t> seats;
    std::map<std::pair<uint32_t, uint32_t>, Spread> pairs;
    std::map<uint32_t, int64_t> costliest;  // start of each so far

    void forget(uint32_t child);
  };
  struct Run {
    std::vector<uint32_t> path;  // its leaf first, the root last
    uint64_t cost = 0;
    int64_t began_ms = 0;
  };

  const Tenant& at(uint32_t i) const { return queue_->schedule().tenants().at(TenantIndex{i}); }
  uint64_t cost_of(const Entry& entry) const;
  std::vector<uint32_t> path_from(uint32_t leaf) const;
  void look_at_seats(uint32_t parent);
  void count(uint32_t parent, uint32_t child, int64_t turn, int64_t whole);
  void compare(const Group& group, uint32_t child, uint32_t other, const Spread& spread);

  ScheduleFixture* queue_ = nullptr;
  FairBy fair_by_ = FairBy::turns;
  int64_t slots_ = 1;
  uint32_t tenants_ = 0;  // used ones when it looked last
  Run next_;              // that is about to start
  std::map<uint64_t, Run> runs_;
  std::map<uint32_t, Group> groups_;
  uint64_t pairs_compared_ = 0;
  std::string fault_;
};

}  // namespace fq::test
