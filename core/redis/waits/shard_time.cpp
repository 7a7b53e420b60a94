#include "core/redis/waits/shard_time.h"

// System.
#include <algorithm>
#include <optional>
// fq, below us.
#include "core/base/text/decimal.h"

namespace fq {

namespace {

// As the server's program has them.
constexpr int64_t kSlower = 16;
constexpr int64_t kUncalledMs = 60'000, kCalledMs = 30'000;
constexpr int64_t kSlackMs = 1'000;

/// What the text begins with, which is left without it; 0: there is none, or it is no time.
int64_t take_number(std::string_view& text) {
  constexpr uint64_t kMost = 10'000'000'000'000'000;
  const uint64_t number = take_decimal(text).value_or(0);
  return number < kMost ? static_cast<int64_t>(number) : 0;
}

}  // namespace

ShardTime::ShardTime(const Reply& now, const Reply& lead) {
  std::string_view last = now.text, pace = lead.text;
  last_ms_ = take_number(last);
  lead_ = take_number(pace);
  if (pace.starts_with(" ")) pace.remove_prefix(1);
  since_ms_ = take_number(pace);
}

int64_t ShardTime::paced(int64_t clock_ms) const {
  const int64_t ms = std::max<int64_t>(0, clock_ms - since_ms_), goes_by = std::min(ms, kUncalledMs);
  return clock_ms + std::max<int64_t>(0, lead_ - goes_by - kSlower * (ms - goes_by)) / kSlower;
}

int64_t ShardTime::at(int64_t clock_ms) const { return std::max(paced(clock_ms), last_ms_); }

bool ShardTime::wants_call(int64_t clock_ms) const {
  const int64_t paced_ms = paced(clock_ms);
  return paced_ms < last_ms_ - kSlackMs || (paced_ms > clock_ms && clock_ms - since_ms_ > kCalledMs);
}

}  // namespace fq
