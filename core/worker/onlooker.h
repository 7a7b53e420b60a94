// onlooker - the reports of a worker to a person who looks on at a terminal: what it waits for.
//
// Once each time that it has had nothing to do for a moment, and once when it is told to stop while jobs
// still run. Nothing where nobody looks on.
#pragma once

// System.
#include <string>
#include <utility>
// fq, below us.
#include "core/base/clock.h"
// fq, this room.
#include "core/worker/jobs/queues.h"
#include "core/worker/jobs/slots.h"

namespace fq::worker {

class Onlooker {
 public:
  Onlooker(const Workshop& shop, const Queues& queues) : shop_(shop), queues_(queues) {}

  /// When on_time() has something to tell; kNever: not as things are.
  int64_t next_ms() const { return tell_at_ms_; }
  /// `idle`: nothing runs, and nothing waits to be run.
  void on_time(int64_t now_ms, bool idle);
  void on_stop(Slots& slots);

 private:
  static constexpr int64_t kMomentMs = 1'000;  // between two messages nothing is told

  const Workshop& shop_;
  const Queues& queues_;
  bool idle_ = false;
  int64_t tell_at_ms_ = kNever;
};

}  // namespace fq::worker
