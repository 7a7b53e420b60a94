// redis_follower - reads the output of a message's job, run after run, until the message has ended.
//
// It reads each run to its end before it asks for the next one. When the message has ended and there is no
// run that it has not read, it reads the kept output instead.
#pragma once

// System.
#include <array>
#include <string>
// fq, below us.
#include "core/engine/followed.h"
// fq, this room.
#include "core/redis/shard/holdings.h"
#include "core/redis/waits/awaiting.h"
#include "core/api/queue.h"

namespace fq {

class RedisFollower final : public OutputFollower {
 public:
  RedisFollower(Queue& queue, Shard& shard, Holdings& holdings, MessageId id, std::optional<CallId> call);
  ~RedisFollower() override;
  Result<FollowStep> next(const FollowWait& wait) override;

 private:
  using Places = std::array<uint64_t, 2>;  // by channel

  Result<std::optional<FollowStep>> look(bool only_there);
  Result<std::optional<FollowStep>> read_run();
  Result<std::optional<FollowStep>> end_run(const Reply& told);
  Result<void> note_read();
  Result<void> take_kept(bool known, uint64_t deliveries);

  Queue& queue_;
  Shard& shard_;
  Holdings& holdings_;
  Awaiting awaiting_;
  const MessageId id_;
  const std::string name_, call_;  // call_: "": none
  std::string delivery_ = "0";     // of the run that is read, or that was read last
  bool reads_ = false;
  Places places_ = {}, noted_ = {}, ends_ = {};
  std::array<bool, 2> told_lost_ = {};
  std::string bytes_;
  std::optional<JobOutput> kept_;
  KeptOutput left_;
  bool took_kept_ = false;
};

}  // namespace fq
