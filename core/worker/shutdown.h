// shutdown - the shutdown of the worker: how far it has come, and how it ends.
//
// Owns the stages and their times: open -> closed (no more messages are taken) -> stopping (messages that
// wait go back, jobs have the grace time) -> killing -> left. A stage is never gone back, and times only come
// nearer, but for that of the verdicts, while any are given. close() and stop() only say so: the worker's loop
// does the rest (take_close, take_stop) before it starts anything else.
#pragma once

// System.
#include <algorithm>
#include <optional>
#include <utility>
// fq, below us.
#include "core/base/clock.h"
// fq, this room.
#include "core/worker/process/options.h"

namespace fq::worker {

class Shutdown {
 public:
  explicit Shutdown(int64_t grace_ms) : grace_ms_(grace_ms) {}

  bool is_closed() const { return closed_; }
  bool is_stopping() const { return stopping_; }
  bool was_told() const { return signalled_; }
  bool has_failed() const { return failed_.has_value(); }
  bool is_over(int64_t now_ms) const { return now_ms >= std::min(leave_at_ms_, give_up_at_ms_); }
  /// When take_kill() or is_over() has something to say; kNever: nothing.
  int64_t next_ms() const { return std::min({kill_at_ms_, leave_at_ms_, give_up_at_ms_}); }

  void close() { closed_ = true; }
  void close_empty(End end) {
    end_ = end;
    closed_ = true;
  }
  void stop(End end) {
    stop_asked_ = stop_asked_ || !stopping_;
    end_ = end;
    stopping_ = closed_ = true;
    kill_at_ms_ = std::min(kill_at_ms_, system_clock().boot_ms() + grace_ms_);
  }
  /// Its verdicts cannot be given any more; of several errors the first is told.
  void fail(Error error) {
    if (!failed_) failed_ = std::move(error);
    stop(End::done);
  }
  /// It goes on all the same, and says at its end that it was not all right.
  void remember(Error error) {
    if (!remembered_) remembered_ = std::move(error);
  }
  /// The first one stops, the next one kills.
  void on_signal() {
    if (!std::exchange(signalled_, true)) return stop(End::done);
    end_ = End::killed;
    kill_at_ms_ = 0;
    leave_at_ms_ = std::min(leave_at_ms_, system_clock().boot_ms() + kLeaveMs);
  }
  /// Of a worker that stops and runs nothing any more: each of its verdicts has so long, with what is on its
  /// way before it. A queue that cannot be reached for that long may have taken the worker for dead anyway.
  void limit_verdicts(size_t untold, int64_t now_ms) {
    if (!stopping_ || (give_up_at_ms_ != kNever && untold == untold_)) return;
    untold_ = untold;
    give_up_at_ms_ = now_ms + kVerdictsMs;
  }
  /// Jobs that still run have the grace time from now, unless they have less.
  void limit(int64_t now_ms) {
    if (kill_at_ms_ == kNever) kill_at_ms_ = now_ms + grace_ms_;
  }

  /// True once after the first close(), be it by stop().
  bool take_close() { return closed_ && !std::exchange(close_taken_, true); }
  /// True once after the first stop().
  bool take_stop() { return std::exchange(stop_asked_, false); }
  /// True once when everything that still runs is to be killed.
  bool take_kill(int64_t now_ms) {
    if (now_ms < kill_at_ms_) return false;
    kill_at_ms_ = kNever;
    return true;
  }
  Result<End> result() const {
    if (failed_) return *failed_;
    if (remembered_) return *remembered_;
    return end_;
  }

 private:
  static constexpr int64_t kLeaveMs = 200;  // after the second signal's KILL, for those that it cannot end

  static constexpr int64_t kVerdictsMs = 15'000;  // as long as a server waits for a sign of life

  int64_t grace_ms_;
  bool closed_ = false;
  bool close_taken_ = false;
  bool stopping_ = false;
  bool stop_asked_ = false;
  bool signalled_ = false;
  int64_t kill_at_ms_ = kNever;
  int64_t leave_at_ms_ = kNever;
  int64_t give_up_at_ms_ = kNever;
  size_t untold_ = 0;
  End end_ = End::done;
  std::optional<Error> failed_, remembered_;
};

}  // namespace fq::worker
