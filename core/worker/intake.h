// intake - the way from the queues to the slots: how much may be taken, the messages that came, and the jobs
// that they become.
//
// Owns the messages that were taken and do not run: gathered for a batch, ready for a slot, or (the rest of a
// batch that failed) confirmed with their queue before they run again. Each message is in one of these, in a
// slot, or has its verdict. Those that come while the worker stops are returned.
#pragma once

// System.
#include <deque>
// fq, this room.
#include "core/worker/jobs/gather.h"
#include "core/worker/streams.h"

namespace fq::worker {

class Intake {
 public:
  Intake(Queues& queues, Slots& slots, Streams& streams, Shutdown& shutdown, const Workshop& shop);

  /// Nothing waits for a slot or a batch.
  bool is_empty() const { return ready_.empty() && gather_.held() == 0; }
  bool waits_for_confirmation() const { return !unconfirmed_.empty(); }
  uint64_t seen_count() const { return seen_count_; }
  /// When start_ready() or allow() has something to do; kNever: nothing.
  int64_t next_ms(int64_t now_ms) const;

  void take_news();
  /// Lets the queues bring as many messages as there is room for.
  void allow();
  void start_ready();
  /// Gives the verdicts of a job that is closed.
  void on_job_end(Slot& slot);
  void release_waiting();

 private:
  void take_in(size_t source, News news);
  void sort_in(size_t source, Arrival arrival);
  bool stays_drained();
  std::string misfit(const Delivery& delivery) const;
  bool drop_waiting(const Receipt& receipt);
  void take_confirmed(size_t source, size_t count);
  size_t gathered_max() const;
  size_t wanted() const;
  void start(Slot& slot, Load load);
  void refuse(Load& load, const Error& error);
  void bury(size_t source, const Delivery& delivery, const std::string& reason);
  void conclude(size_t source, const Delivery& delivery, VerdictOrder order);
  void release(Load& load, int64_t delay_ms = 0);
  void tell(const std::string& queue, const Delivery& delivery, VerdictOrder& order);

  Queues& queues_;
  Slots& slots_;
  Streams& streams_;
  Shutdown& shutdown_;
  const Workshop& shop_;
  const Options& options_;
  Gather gather_;
  std::deque<Load> ready_;
  // Of batches that failed, in the order of asking; one that is heard to have ended meanwhile leaves its load
  // empty.
  std::deque<Load> unconfirmed_;
  uint64_t seen_count_ = 0;                 // messages
  std::optional<uint64_t> seen_when_idle_;  // how many, when all queues were idle last
  int64_t rest_until_ms_ = 0;               // nothing is started: something that every start needs is short
};

}  // namespace fq::worker
