// output_follower - reads the output of a message's job, run after run, until the message has ended.
//
// It reads the file of each run to its end before it looks for the next one. When the message has ended and
// its last run left no file that we have read, it reads the kept output instead.
#pragma once

// fq, below us.
#include "core/engine/followed.h"
// fq, this room.
#include "core/local/consume/ended_view.h"
#include "core/local/consume/run_outputs.h"
#include "core/local/consume/watcher.h"

namespace fq {

class LocalFollower final : public OutputFollower, private Linked {
 public:
  struct Parts {
    Watcher& watcher;
    EndedView& ended;
    RunOutputs& runs;
  };
  LocalFollower(Link& link, const Parts& parts, std::shared_ptr<RunShelf> shelf, MessageId id,
                std::optional<CallId> call)
      : Linked(link), parts_(parts), shelf_(std::move(shelf)), id_(id), call_(call) {}

  ~LocalFollower() override;
  Result<FollowStep> next(const FollowWait& wait) override;

 private:
  /// The state of the message in the queue.
  struct MessageSnapshot {
    bool ended = false;
    bool known = true;   // how often it was delivered
    bool moved = false;  // to another queue: nothing of it was to be kept here
    uint32_t deliveries = 0;
    int64_t timer_ms = kNever;
  };
  Result<std::optional<FollowStep>> look(const MessageSnapshot& seen, bool only_there);
  Result<MessageSnapshot> read_message();
  Result<std::optional<FollowStep>> read_run();
  Result<std::optional<FollowStep>> read_channel(Channel channel);
  Result<bool> open_run(uint32_t deliveries, bool only_there);
  Result<void> take_kept(const MessageSnapshot& seen);

  const Parts parts_;
  const std::shared_ptr<RunShelf> shelf_;  // null: no run can be read, only what is kept
  const MessageId id_;
  const std::optional<CallId> call_;
  std::unique_ptr<RunFile> run_;    // that is read
  uint32_t delivery_ = 0;           // its number, or of the last one that was looked for
  uint32_t read_delivery_ = 0;      // of the last run that was read
  uint64_t positions_[2] = {0, 0};  // in it
  uint64_t ends_[2] = {0, 0};       // of what is to be read of it
  bool told_lost_[2] = {false, false};
  std::string buffer_;
  std::optional<JobOutput> kept_;
  KeptOutput left_;  // of it
  bool took_kept_ = false;
};

}  // namespace fq
