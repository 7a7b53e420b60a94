// patience - how long who waits for work, and is told of nothing, waits until it looks by itself: the more
// wait, the longer, so that together they cost a server no more than that.
#pragma once

// System.
#include <algorithm>
#include <cstdint>

namespace fq {

// Chosen: each of the first two is some 2 % of a server's processor, the last some 4 %. fq-redis(7) tells
// them.
inline constexpr uint64_t kReadsASecond = 2'500;   // of a queue of one shard
inline constexpr uint64_t kCallsASecond = 100;     // where a limit holds up what there is
inline constexpr uint64_t kRootsASecond = 10'000;  // by who waits for work of several shards

class Patience {
 public:
  Patience(int64_t poll_ms, uint64_t a_second) : poll_ms_(poll_ms), a_second_(a_second) {}

  /// Between two looks of one, where it is known of no more than that so many are made together.
  int64_t ms(uint64_t together) const {
    return std::max(poll_ms_, static_cast<int64_t>(together * 1'000 / a_second_));
  }

 private:
  int64_t poll_ms_;
  uint64_t a_second_;
};

}  // namespace fq
