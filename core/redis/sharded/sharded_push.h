// sharded_push - puts batches of messages into the shards that they belong to.
//
// What is wrong with any message is found before anything is put. Then each shard takes all of its own or
// nothing, all of them at once; where some do not, what the others took stays.
#pragma once

// fq, this room.
#include "core/redis/sharded/shards.h"

namespace fq {

class ShardedPush {
 public:
  explicit ShardedPush(Shards& shards) : shards_(shards) {}

  Result<PushReply> push(std::span<const NewMessage> messages, const PushOptions& options);

 private:
  /// What came of the batches of shards so far.
  struct Outcome {
    PushReply reply;
    std::optional<Error> fault = {};
    bool says_of_each = false;  // no: nothing was put
    /// `places`: where its messages stand in all of them.
    void add(const std::vector<size_t>& places, Result<PushReply> pushed);
  };
  Result<void> check_ties(const NewMessage& message) const;
  static Result<PushReply> put(RedisPush& shard, const BatchPart& part, const PushOptions& options,
                               std::optional<Result<PushReply>> heard = {});

  Shards& shards_;
};

}  // namespace fq
