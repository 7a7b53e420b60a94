// simulation - a scenario run by the production scheduler under virtual time.
//
// The Schedule lies on a byte array; time jumps from one event to the next (a push, an end of a run, a timer
// of the schedule itself), so an hour of waiting costs nothing. Whoever has a free slot takes the next turn
// at once.
#pragma once

// System.
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>
// Tests.
#include "tests/schedule/scenario.h"
#include "tests/schedule/turn_log.h"

namespace fq::test {

/// Looks on; tests for properties are made of it. Messages are their ids, counted from 1.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void pushed(uint64_t /*id*/, const std::string& /*tenant*/, int64_t /*due_ms*/) {}
  virtual void changed(const std::string& /*tenant*/, const PolicyPatch& /*patch*/) {}
  virtual void before_start(uint64_t /*id*/) {}
  virtual void started(uint64_t /*id*/) {}
  virtual void ended(uint64_t /*id*/, bool /*comes_back*/) {}
  /// All that happens at this time has happened, and nothing more can be started.
  virtual void settled(uint32_t /*free_slots*/) {}
};

class Simulation {
 public:
  struct Message {
    uint32_t tenant = 0;
    uint32_t fails_left = 0;
    bool delivered = false;
    int64_t run_min_ms = 0, run_max_ms = 0;
    int64_t ready_at_ms = 0;
  };
  struct TenantFigures {
    std::string name;
    uint64_t pushed = 0, served = 0;
    int64_t run_ms = 0;             // of runs that have begun, as long as they will take
    uint64_t bytes = 0;             // likewise
    std::vector<int64_t> waits_ms;  // from when it could start to its first start
  };

  explicit Simulation(Scenario scenario, Watcher* watcher = nullptr, uint32_t mib = 0);
  void run();
  /// A line a tenant, the busiest first and at most so many, and one for all.
  std::string report(size_t lines_max = 40) const;

  ScheduleFixture& queue() { return *queue_; }
  const TurnLog& turns() const { return turns_; }
  const std::vector<TenantFigures>& tenants() const { return tenants_; }
  int64_t started_at_ms() const { return start_ms_; }
  const Scenario& scenario() const { return scenario_; }

 private:
  enum class What : uint8_t { change, push, end };
  struct Event {
    int64_t at_ms;
    uint64_t order;  // of equal times, as they were planned
    What what;
    uint64_t which;
    bool operator>(const Event& other) const {
      return at_ms != other.at_ms ? at_ms > other.at_ms : order > other.order;
    }
  };

  static uint32_t room_for(const Scenario& scenario);
  void plan(int64_t at_ms, What what, uint64_t which);
  bool has_work() const;
  void happen(const Event& event);
  void change(const Scenario::Change& change);
  void push(Scenario::Push& push, uint64_t which);
  void push_one(const Scenario::Push& push, const std::string& tenant);
  void end(uint64_t id);
  void start_all();
  int64_t drawn(int64_t least, int64_t most);
  std::string row(const TenantFigures& tenant) const;

  Scenario scenario_;
  Watcher* watcher_;
  Watcher nobody_;
  std::unique_ptr<ScheduleFixture> queue_;
  std::mt19937_64 random_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  uint64_t planned_ = 0;
  int64_t start_ms_ = 0;
  uint32_t running_ = 0;
  std::vector<Message> messages_;  // by id, from 1
  std::vector<TenantFigures> tenants_;
  std::map<std::string, uint32_t> tenant_numbers_;
  TurnLog turns_;
};

/// Run to its end.
Simulation simulated(const std::string& scenario, Watcher* watcher = nullptr);

}  // namespace fq::test
