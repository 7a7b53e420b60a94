// sharded_push - puts batches of messages into the shards that they belong to.
//
// What is wrong with any message is found before anything is put. Then each shard takes all of its own or
// nothing; where one does not, those behind it are not asked.
#pragma once

// System.
#include <set>
// fq, this room.
#include "core/redis/sharded/shards.h"

namespace fq {

class ShardedPush {
 public:
  explicit ShardedPush(Shards& shards) : shards_(shards) {}

  Result<PushReply> push(std::span<const NewMessage> messages, const PushOptions& options);
  /// It is made where its message is pushed: until then nobody knows in which shard that is.
  Result<CallId> begin_call();

 private:
  Result<void> check_ties(const NewMessage& message) const;
  Result<void> begin_calls(std::span<const NewMessage> messages);

  Shards& shards_;
  std::set<std::pair<size_t, uint64_t>> calls_;  // that were made, by shard
};

}  // namespace fq
