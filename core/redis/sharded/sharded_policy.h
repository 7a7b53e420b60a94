// sharded_policy - what holds for a queue of many shards, each of which has all of it.
//
// What counts over the whole queue is refused: no shard knows what the others have.
#pragma once

// fq, this room.
#include "core/redis/sharded/shards.h"

namespace fq {

class ShardedPolicy {
 public:
  explicit ShardedPolicy(Shards& shards) : shards_(shards) {}

  Result<bool> is_current(const FileIdentity& identity);
  /// What breaks off on its way is begun anew by whoever asks next.
  Result<void> load(const Policy& policy, const FileIdentity& identity, const std::string* text);
  Result<void> set(std::string_view path, const PolicyPatch& patch);
  Result<OverridePage> overrides(const Cursor& from, size_t n);

 private:
  Shards& shards_;
};

}  // namespace fq
