// following - a job's output, written onto our own output and error output as it comes: for push --wait and
// result.
//
// Each piece is out before the next is asked for, so a slow reader of ours is slow for the queue too. A gap
// in the output, or the beginning of a new run, is said at its place.
#pragma once

// System.
#include <optional>
// fq, this room.
#include "cli/session/session.h"

namespace fq::cli {

class Following {
 public:
  Following(Session& session, OutputFollower& follower, MessageId id)
      : session_(session), follower_(follower), id_(id) {}

  enum class End { ended, timed_out, interrupted };
  /// Until the message has ended, for at most `wait_ms`, or until the interrupt is raised.
  Result<End> run(std::optional<int64_t> wait_ms, Interrupt& interrupt);
  /// Writes the output so far; timed_out: the message has not ended.
  Result<End> run_once(Interrupt& interrupt);
  /// A part of the output of its job was not there to be read.
  bool is_missing_something() const { return missing_; }
  bool wrote_something() const { return positions_[0] + positions_[1] > 0; }

 private:
  Result<std::optional<End>> take_step(const FollowStep& step, const Interrupt& interrupt);
  Result<void> take(const FollowStep& step);
  Result<void> write(Channel channel, std::string_view bytes);
  Result<void> write_out(Channel channel, std::string_view bytes);
  Result<void> write_begun(Channel channel);
  void tell_missing(const FollowStep& step);
  void tell_run(uint64_t run);
  void say_of_it(std::string_view text) const;
  Output& output(Channel channel) { return channel == Channel::out ? session_.out() : errors_; }

  Session& session_;
  OutputFollower& follower_;
  const MessageId id_;
  Output errors_{2};
  uint64_t positions_[2] = {0, 0};  // of what was written on ours
  std::string begun_[2];            // terminal: the beginning of a character
  bool ran_ = false;
  bool broken_off_ = false;  // the last run
  bool missing_ = false;
};

}  // namespace fq::cli
