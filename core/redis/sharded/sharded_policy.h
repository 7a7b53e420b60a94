// sharded_policy - what holds for a queue of many shards, each of which has all of it.
//
// What counts over all shards is counted anew when it becomes another: see Purses. One order over all is
// refused.
//
// What is set of the queue at run time has a version in each shard. One that was away has an earlier one, and
// is given what a shard with the latest has by whoever looks next: so a command that reached some shards only
// is brought to its end, also where it was killed.
#pragma once

// fq, this room.
#include "core/redis/sharded/purses.h"

namespace fq {

class ShardedPolicy {
 public:
  ShardedPolicy(Shards& shards, Purses& purses) : shards_(shards), purses_(purses) {}

  /// Whether all follow that file; before it is told, they have what was set at run time.
  Result<bool> is_current(const FileIdentity& identity);
  /// By those that answer; an Error also where none does.
  Result<void> check(const Policy& policy);
  /// What breaks off on its way is begun anew by whoever asks next.
  Result<void> load(const Policy& policy, const FileIdentity& identity);
  Result<void> set(std::string_view path, const PolicyPatch& patch);
  Result<OverridePage> overrides(const Cursor& from, size_t n);

 private:
  /// Of what is set next: behind all that there are; of two that are made at once either may be the later.
  std::string next_version();
  /// `roots`: of kRootFields.
  Result<void> bring_what_was_set(const std::vector<Result<Reply>>& roots);
  /// "15 of 16 shards".
  std::string all_but(size_t lost) const;
  Error in_part(Error error, size_t lost) const;

  Shards& shards_;
  Purses& purses_;
};

}  // namespace fq
