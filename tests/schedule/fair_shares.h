// fair_shares - siblings that have work at the same time get turns by their weights, at every moment.
//
// Two children of a node that both keep their seats over a span of time: what each got in it, its turns times
// the length of one (see turn_of), differs by at most one turn of each. Why: a seat's tag lies between the
// node's virtual time v and v plus one turn of its own; so over the span, in which v moved by V, each got at
// least V less one turn, and at most V and one turn. To hold this for all spans inside the one for which both
// were seated, the lowest and the highest difference so far are kept.
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
  void attach(Simulation& simulation) { queue_ = &simulation.queue(); }

  void changed(const std::string&, const PolicyPatch&) override { groups_.clear(); }
  void before_start(uint64_t id) override;
  void started(uint64_t id) override;

  const std::string& fault() const { return fault_; }
  uint64_t pairs_compared() const { return pairs_compared_; }

 private:
  struct Spread {
    int64_t now = 0, lowest = 0, highest = 0;
  };
  /// The children of a node that are seated, with the sequences of their seats.
  struct Group {
    std::map<uint32_t, uint64_t> seats;
    std::map<std::pair<uint32_t, uint32_t>, Spread> pairs;

    void forget(uint32_t child);
  };

  const Tenant& at(uint32_t i) const { return queue_->schedule().tenant(TenantIndex{i}); }
  void look_at_seats(uint32_t parent);
  void count_turn(uint32_t parent, uint32_t child);

  ScheduleFixture* queue_ = nullptr;
  uint32_t tenants_ = 0;        // used ones when it looked last
  std::vector<uint32_t> path_;  // of the turn that is under way, the root last
  std::map<uint32_t, Group> groups_;
  uint64_t pairs_compared_ = 0;
  std::string fault_;
};

}  // namespace fq::test
