// sharded_lists - lists of messages over many shards, page by page, and changes of all that are in one.
//
// What has an order of its own (by id, by the time of its end) comes in that over all shards, and a cursor is
// a place in it. What is served comes shard after shard.
#pragma once

// fq, this room.
#include "core/redis/sharded/shards.h"

namespace fq {

class ShardedLists {
 public:
  explicit ShardedLists(Shards& shards) : shards_(shards) {}

  Result<MessagePage> peek(const Filter& filter, const Cursor& from, size_t n);
  Result<IdPage> select(const Filter& filter, const Cursor& from, size_t n);
  Result<MessagePage> ended(const Filter& filter, const Cursor& from, size_t n);
  Result<MutateReply> mutate(std::span<const MessageId> ids, Action action, std::optional<State> state = {});
  Result<MutateReply> mutate(const Filter& filter, Action action, const Cursor& from, size_t n) {
    return mutate_page(*this, filter, action, from, n);
  }
  /// One of its ids that has not ended, as RedisLook::unended.
  Result<std::optional<MessageId>> unended(const EndRequest& request, bool all);

 private:
  /// The shard that has all of it; none: any may have some.
  std::optional<size_t> only_shard(const Filter& filter) const;

  Shards& shards_;
};

}  // namespace fq
