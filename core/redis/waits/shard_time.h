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
  /// That clock went back, and time stands still until a call finds that.
  bool is_behind(int64_t clock_ms) const { return paced(clock_ms) < last_ms_; }

 private:
  int64_t paced(int64_t clock_ms) const;

  int64_t last_ms_ = 0;
  int64_t lead_ms_ = 0, since_ms_ = 0;  // so far it was ahead, when the clock said that
};

}  // namespace fq
