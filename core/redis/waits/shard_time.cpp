#include "core/redis/waits/shard_time.h"

// System.
#include <algorithm>
#include <optional>
// fq, below us.
#include "core/base/text/decimal.h"

namespace fq {

namespace {

constexpr int64_t kSlower = 16;  // as the server's program has it

/// The number that the text begins with, which is left without it; 0: there is none, or it is no time.
int64_t take_ms(std::string_view& text) {
  constexpr uint64_t kMost = 1'000'000'000'000'000;  // likewise
  const uint64_t number = take_decimal(text).value_or(0);
  return number < kMost ? static_cast<int64_t>(number) : 0;
}

}  // namespace

ShardTime::ShardTime(const Reply& now, const Reply& lead) {
  std::string_view last = now.text, pace = lead.text;
  last_ms_ = take_ms(last);
  lead_ms_ = take_ms(pace);
  if (pace.starts_with(" ")) pace.remove_prefix(1);
  since_ms_ = take_ms(pace);
}

int64_t ShardTime::paced(int64_t clock_ms) const {
  const int64_t since_ms = std::max<int64_t>(0, clock_ms - since_ms_);
  return clock_ms + std::max<int64_t>(0, lead_ms_ - since_ms / kSlower);
}

int64_t ShardTime::at(int64_t clock_ms) const { return std::max(paced(clock_ms), last_ms_); }

}  // namespace fq
