// backoff - the wait of a failed message before its next try: exponential, with full jitter, clamped.
//
// The first failure waits up to `base`, each further one up to twice as long as the one before, never more
// than `max`. The wait is drawn from the whole span, so that messages which failed together do not come back
// together.
#pragma once

// System.
#include <cstdint>
#include <optional>
#include <string_view>

namespace fq {

struct BackoffRange {
  int64_t base_ms = 0;
  int64_t max_ms = 0;
};

/// "5s..1h": two durations, the smaller one first. None when it is not that.
std::optional<BackoffRange> parse_backoff(std::string_view text);

/// After the `failures`-th failure (from 1); `random` is drawn from all 64-bit numbers. 1 to range.max_ms.
int64_t backoff_ms(const BackoffRange& range, uint32_t failures, uint64_t random);

}  // namespace fq
