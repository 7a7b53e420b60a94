// sharded_policy - what holds for a queue of many shards, each of which has all of it.
//
// What counts over all shards is counted anew when it becomes another: see Purses. One order over all is
// refused.
#pragma once

// fq, this room.
#include "core/redis/sharded/purses.h"

namespace fq {

class ShardedPolicy {
 public:
  ShardedPolicy(Shards& shards, Purses& purses) : shards_(shards), purses_(purses) {}

  Result<bool> is_current(const FileIdentity& identity);
  /// By those that answer; an Error also where none does.
  Result<void> check(const Policy& policy);
  /// What breaks off on its way is begun anew by whoever asks next.
  Result<void> load(const Policy& policy, const FileIdentity& identity);
  Result<void> set(std::string_view path, const PolicyPatch& patch);
  Result<OverridePage> overrides(const Cursor& from, size_t n);

 private:
  /// "15 of 16 shards".
  std::string all_but(size_t lost) const;
  Error in_part(Error error, size_t lost) const;

  Shards& shards_;
  Purses& purses_;
};

}  // namespace fq
