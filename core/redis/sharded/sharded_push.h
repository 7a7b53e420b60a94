// sharded_push - puts batches of messages into the shards that they belong to.
//
// What is wrong with any message is found before anything is put. Then each shard takes all of its own or
// nothing; where one does not, those behind it are not asked.
#pragma once

// fq, this room.
#include "core/redis/sharded/shards.h"

namespace fq {

class ShardedPush {
 public:
  explicit ShardedPush(Shards& shards) : shards_(shards) {}

  Result<PushReply> push(std::span<const NewMessage> messages, const PushOptions& options);
  Result<CallId> begin_call();

 private:
  Result<void> check_ties(const NewMessage& message) const;

  Shards& shards_;
};

}  // namespace fq
