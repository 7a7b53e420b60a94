// simulation - a load played to the scheduler on a clock of its own: time jumps from one event to the next,
// so a day without work costs nothing.
//
// A free slot takes the next turn at once, and a run takes as long as the load says, however many others run
// beside it. Or the load's own starts are followed, whichever turn is next: as it happened.
#pragma once

// System.
#include <queue>
#include <vector>
// fq, this room.
#include "core/simulate/entitlement.h"
#include "core/simulate/figures.h"
#include "core/simulate/virtual_queue.h"

namespace fq {

class Simulation {
 public:
  enum class Starts {
    by_turn,      // the scheduler chooses the message, and free slots the time
    as_recorded,  // the load says both
  };

  /// The load is rewound and has to outlive it.
  Simulation(Load& load, const Policy& policy, uint32_t slots, Starts starts);
  Report run();

 private:
  /// A future event of the simulation itself.
  struct Coming {
    enum class What : uint8_t { end, due, expiry };
    int64_t at_ms;
    uint64_t id;
    What what;
    uint32_t nth = 0;  // end: of which run, and where
    SlotIndex slot{};
    /// For a heap whose front comes first; of one time, the ids by their age.
    bool operator<(const Coming& other) const {
      return at_ms != other.at_ms ? at_ms > other.at_ms : id > other.id;
    }
  };

  bool step();
  int64_t next_ms() const;
  void happen(const Happening& happening);
  void come(const Coming& coming);
  void push(uint64_t id);
  bool start_some();
  void begin(const VirtualQueue::Started& started);
  void end(const VirtualQueue::Started& started);
  void note_freed();
  void note_ready(uint64_t id);
  void note_not_ready(uint64_t id);
  void note_wait(uint64_t id, int64_t until_ms);
  double cost_of(uint64_t id, const Run& run) const;
  uint32_t leaf_of(uint32_t tenant);

  static constexpr int64_t kNotReady = kNever;

  Load& load_;
  VirtualQueue queue_;
  Entitlement entitlement_;
  Figures figures_;
  const uint32_t slots_;
  const Starts starts_;
  uint32_t running_ = 0;
  uint64_t refused_ = 0;
  int64_t happened_ms_ = 0;  // when the last push, start, end or change was
  std::priority_queue<Coming> coming_;
  std::vector<int64_t> ready_ms_;  // by message: since when, or kNotReady
  std::vector<bool> started_;      // by message: once or more
  std::vector<bool> counted_;  // messages whose wait counts: so do their runs
  std::vector<uint32_t> leaves_;   // by tenant: of entitlement_; kNoIndex: nothing of it has come yet
};

}  // namespace fq
