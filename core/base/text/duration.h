// duration - spans as people write them: `250ms`, `1.5s`, `5m`, `2h`, `1d`, joined `1h30m`.
//
// Always with a unit, largest unit first, each at most once. Kept in whole milliseconds; a finer part
// rounds up, so that a wait is never shorter than asked. At most kDurationMsMax, so that now plus any
// duration cannot overflow.
#pragma once

// System.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fq {

inline constexpr int64_t kDurationMsMax = int64_t{36'500} * 24 * 3600 * 1000;  // 36500d: arbitrary

enum class DurationFault { none, not_a_duration, too_long };

struct DurationParse {
  DurationFault fault = DurationFault::none;
  int64_t ms = 0;
};

DurationParse parse_duration(std::string_view text);

/// The shortest text that parses back to the same: "1h30m", "250ms", "0s". Needs: ms >= 0.
std::string format_duration(int64_t ms);

}  // namespace fq
