#include "core/base/backoff.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/base/text/duration.h"

namespace fq {

std::optional<BackoffRange> parse_backoff(std::string_view text) {
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  const DurationParse base = parse_duration(text.substr(0, dots));
  const DurationParse max = parse_duration(text.substr(dots + 2));
  if (base.fault != DurationFault::none || max.fault != DurationFault::none) return std::nullopt;
  if (base.ms > max.ms) return std::nullopt;
  return BackoffRange{base.ms, max.ms};
}

int64_t backoff_ms(const BackoffRange& range, uint32_t failures, uint64_t random) {
  int64_t most = std::max<int64_t>(1, range.base_ms);
  // Doubled step by step: attempt 400 must not shift by 399.
  for (uint32_t i = 1; i < failures && most < range.max_ms; ++i) {
    most = most > range.max_ms / 2 ? range.max_ms : most * 2;
  }
  most = std::clamp<int64_t>(most, 1, std::max<int64_t>(1, range.max_ms));
  return 1 + static_cast<int64_t>(random % static_cast<uint64_t>(most));
}

}  // namespace fq
