// time_counts - the counts of times by bucket, as the server's program keeps them: see histograms.lua and
// recent_times.lua.
#pragma once

// System.
#include <map>
#include <string_view>
// fq, below us.
#include "core/api/stats.h"
// fq, this room.
#include "core/redis/records/packing.h"

namespace fq {

class TimeCounts {
 public:
  /// A field of one kind of times, beside those that were taken of others: of a bucket, "s" or "m".
  void take(std::string_view field, uint64_t value);
  Percentiles percentiles() const;

 private:
  std::map<uint64_t, uint64_t> counts_;  // by the time that is told of their bucket
  uint64_t sum_ms_ = 0;
  uint64_t max_ms_ = 0;
};

/// Of one tenant, told as those of one in a directory are.
Percentiles recent_times(Unpacker& bytes);

}  // namespace fq
