// job - one run of the command: for one message, or for a batch of one tenant's.
//
// It owns the process, what comes out of it and its limits, and turns its end into verdicts. It never waits:
// the worker's loop calls it when something has happened.
#pragma once

// System.
#include <algorithm>
#include <memory>
#include <vector>
// fq, this room.
#include "core/worker/jobs/books.h"
#include "core/worker/jobs/verdicts.h"
#include "core/worker/process/capture.h"
#include "core/worker/process/job_group.h"
#include "core/worker/process/launch.h"
#include "core/worker/process/stopwatch.h"

namespace fq::worker {

class Job {
 public:
  /// Starts it; `load` is taken over only when that went well. An error of kind config says that the command
  /// cannot be started, bad_data that it cannot take this payload, unusable that this command cannot be now,
  /// any other that none can.
  static Result<std::unique_ptr<Job>> start(const Workshop& shop, const std::string& queue, uint32_t slot,
                                            Load& load);

  const Process& process() const { return process_; }
  Capture& out() { return out_; }
  Capture& err() { return err_; }
  const Load& load() const { return load_; }

  /// When on_time() has something to do; kNever: nothing.
  int64_t next_ms() const {
    if (is_over()) return is_gone() ? look_at_ms_ : end_.next_ms();
    return std::min(
        {kill_at_ms_ != kNever ? kill_at_ms_ : limit_at_ms_, transcript_.next_ms(), room_look_ms_});
  }
  /// TERM when its time is over, KILL when that did not help.
  void on_time(int64_t now_ms);
  /// Its output is not read any more: its caller has to read first. We are not told when the caller has, which
  /// may be the case by now.
  void hold_back(int64_t now_ms);
  /// Whether it may be read again. To be asked from time to time.
  bool has_room_again(int64_t now_ms);
  /// Its job may run until then.
  void extend(int64_t until_ms);
  /// TERM, and KILL after `grace_ms`, or when it was to come before that.
  void end(Ending why, int64_t now_ms, int64_t grace_ms);
  /// KILL, now. What it was told to end for already is what it has ended for.
  void kill(Ending why);
  /// A verdict was given for it by another process: ours would be stale.
  void note_settled(const Receipt& receipt);
  bool holds(const Receipt& receipt) const;
  bool is_settled() const { return std::find(settled_.begin(), settled_.end(), false) == settled_.end(); }

  /// Its process has ended. False: the rest of its group is about to be gone, or what it wrote is on its way
  /// still; to be asked again.
  bool close(int64_t now_ms);
  bool is_over() const { return end_.has_begun(); }
  /// Nothing of it is at work any more.
  bool is_gone() const { return gone_at_ms_ != kNever; }

  /// Once it is closed: the verdicts. Of a batch that failed, the messages are handed to `again` to be
  /// run one by one.
  std::vector<VerdictOrder> finish(const Workshop& shop, std::vector<Load>& again);

 private:
  Job() = default;
  Result<void> launch(const Workshop& shop, const std::string& queue, uint32_t slot, Load& load);
  void limit_time(const Workshop& shop, const Load& load);
  int64_t retention_ms_of(const Workshop& shop) const;
  std::optional<int64_t> keep_ms(const Workshop& shop) const;
  bool waits_for_caller() const;

  Process process_;
  Transcript transcript_;
  Capture out_;
  Capture err_;
  Load load_;
  Ending ending_ = Ending::none;
  int64_t limit_at_ms_ = kNever;
  int64_t kill_at_ms_ = kNever;
  int64_t grace_ms_ = 0;
  int64_t held_since_ms_ = 0;
  int64_t room_look_ms_ = kNever;  // kNever: it is not held back
  GroupEnd end_;
  int64_t gone_at_ms_ = kNever;
  int64_t look_at_ms_ = kNever;  // then: whether what it wrote has gone its way
  ExitStatus status_;
  Stopwatch runs_;
  uint64_t ran_us_ = 0;
  std::vector<bool> settled_;  // by the place in load_
};

}  // namespace fq::worker
