// shard_time - what time it is in a shard, for who reads its root and makes no call: pace.lua is its twin.
#pragma once

// System.
#include <cstdint>
// fq, this room.
#include "core/redis/wire/reply.h"

namespace fq {

class ShardTime {
 public:
  ShardTime() = default;
  /// `now`, `lead`: as the root has them. One that cannot be read: it is the clock's.
  ShardTime(const Reply& now, const Reply& lead);

  /// Where its server's clock says this.
  int64_t at(int64_t clock_ms) const;
  /// That clock went back, or nobody has called for long since: time goes on by a call.
  bool wants_call(int64_t clock_ms) const;

 private:
  int64_t paced(int64_t clock_ms) const;

  int64_t last_ms_ = 0;
  int64_t lead_ = 0, since_ms_ = 0;  // by so many sixteenths of a ms it was ahead, when the clock said that
};

}  // namespace fq
