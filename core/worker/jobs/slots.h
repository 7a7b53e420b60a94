// slots - the places in which jobs and streams run, and the news of each.
//
// Owns the jobs and streams that run. A slot holds a job or a stream or nothing, and while it holds one, its
// process and its pipes are watched under the slot's index; no more slots are used than growth allows, but
// for those that were begun before it shrank.
#pragma once

// fq, this room.
#include "core/worker/jobs/growth.h"
#include "core/worker/jobs/job_stream.h"
#include "core/worker/jobs/leavings.h"
#include "core/worker/process/poller.h"

namespace fq::worker {

struct Slot {
  uint32_t number = 0;  // from 1
  std::unique_ptr<Job> job;
  std::unique_ptr<JobStream> stream;

  bool is_free() const { return !job && !stream; }
  uint32_t index() const { return number - 1; }
};

class Slots {
 public:
  Slots(const Poller& poller, const Options& options);

  auto begin() { return slots_.begin(); }
  auto end() { return slots_.end(); }
  Slot& operator[](uint32_t index) { return slots_[index]; }
  Growth& growth() { return growth_; }
  Leavings& leavings() { return leavings_; }

  size_t used() const;
  /// As used(), but for streams that wait for messages.
  size_t at_work() const;
  size_t free() const;
  /// Those of which something is at work still, be it to end.
  size_t running() const;
  /// The messages of the others: their verdicts wait for their output to go its way.
  size_t untold() const;
  /// Null when there is none.
  Slot* free_slot();
  /// When on_time() of something that runs has something to do, or growth; kNever: nothing.
  int64_t next_ms() const;

  void put(Slot& slot, std::unique_ptr<Job> job);
  void put(Slot& slot, std::unique_ptr<JobStream> stream);
  /// Reads what a job has written to `what`.
  void take_output(Slot& slot, Watched what);
  /// Of the jobs their limits; what was left unread while there was no room for it, once there is.
  void on_time(int64_t now_ms);
  /// A lease was extended, or has ended, without us. False: none of these has its message.
  bool on_change(const LeaseChange& change, int64_t grace_ms);
  void kill();

 private:
  void watch(const Capture& capture, Event event) const;
  void watch_output(Slot& slot) const;
  static bool can_go_on(const Slot& slot);

  const Poller& poller_;
  Growth growth_;
  Leavings leavings_;
  std::vector<Slot> slots_;
};

}  // namespace fq::worker
