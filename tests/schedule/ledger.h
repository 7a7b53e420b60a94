// ledger - what may run, found out by looking at every tenant with its limits: plain, slow, obviously right.
//
// Watches a simulation and holds against it:
//  - what starts may start: nothing on its path is paused, at its concurrency or without a token, nor is any
//    pool that it needs;
//  - nothing that may start waits while a slot is free;
//  - whatever waits for a time is woken by a timer that is not later than that;
//  - of one tenant the message of the lowest id starts first.
// A rate lets start, in every span of time W, at most its burst (at least what one millisecond brings) and
// W * rate more; whoever keeps this for all spans that end now keeps it for all.
#pragma once

// System.
#include <map>
#include <set>
#include <string>
#include <vector>
// Tests.
#include "tests/schedule/simulation.h"

namespace fq::test {

class Ledger : public Watcher {
 public:
  explicit Ledger(const Scenario& scenario) : rules_(scenario.rules) {
    for (const PoolRule& pool : scenario.pools) {
      Node& node = pools_[pool.name];
      for (const PolicyValue& value : pool.values) take(node.terms, value);
      round_up_burst(node.terms);
    }
  }
  void attach(Simulation& simulation) { queue_ = &simulation.queue(); }

  void pushed(uint64_t id, const std::string& tenant, int64_t due_ms) override;
  void changed(const std::string& tenant, const PolicyPatch& patch) override;
  void before_start(uint64_t id) override;
  void started(uint64_t id) override;
  void ended(uint64_t id, bool comes_back) override;
  void settled(uint32_t free_slots) override;

  /// The first promise that was broken; empty when all was kept.
  const std::string& fault() const { return fault_; }

 private:
  struct Terms {
    bool paused = false;
    int64_t limited_until_ms = 0;
    int64_t concurrency = INT64_MAX;
    int64_t interval_ns = 0;
    int64_t burst = 1;
    std::string pool;
  };
  struct Node {
    bool known = false;  // that terms are those of now
    Terms terms;
    int64_t running = 0;
    // Starts since its rate holds: how many, and the least of (i * interval - time of start i).
    int64_t starts = 0;
    int64_t least = INT64_MAX;
  };

  int64_t now() const { return queue_->now; }
  Node& node(const std::string& path);
  Terms terms_of(const std::string& path) const;
  static void take(Terms& terms, const PolicyValue& value);
  static void round_up_burst(Terms& terms);
  /// From when on this node lets something start; kNever: not by time alone.
  int64_t free_at_ms(const Node& node) const;
  /// The pools that a tenant's path needs.
  std::set<std::string> pools_of(const std::string& tenant);
  void count_start(Node& node);
  int64_t path_free_at_ms(const std::string& tenant);
  void become_due();
  void break_promise(const std::string& what);
  template <class Visit>
  void visit_path(const std::string& tenant, Visit visit);

  std::vector<TenantRule> rules_;
  ScheduleFixture* queue_ = nullptr;
  std::map<std::string, PolicyValues> set_;
  std::map<std::string, Node> nodes_;
  std::map<std::string, Node> pools_;
  std::set<uint64_t> running_;
  std::vector<std::string> tenant_of_{""};  // by id
  std::map<std::string, std::set<uint64_t>> ready_;
  std::multimap<int64_t, uint64_t> delayed_;
  std::string fault_;
};

}  // namespace fq::test
