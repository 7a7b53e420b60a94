// wall_time - instants as people write them: RFC 3339, `@EPOCH` (seconds, fractions allowed) or `+5m`.
//
// Instants are milliseconds since 1970 in UTC. Parts of a millisecond are cut. No time zone database and no
// locale: RFC 3339 carries its own offset, and output is always UTC.
#pragma once

// System.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fq {

inline constexpr int64_t kDaySeconds = 86'400;

/// An instant to the nanosecond, for what has to keep what was written.
struct Instant {
  int64_t seconds = 0;
  int32_t nanoseconds = 0;  // 0 to 999999999
};

/// RFC 3339 ("2026-11-02T08:00:00.5+01:00", also with a space or in lower case) or "@EPOCH".
/// Years 0001 to 9999.
std::optional<Instant> parse_instant(std::string_view text);

/// The same, or "+DURATION" from `now_ms`.
std::optional<int64_t> parse_wall_time(std::string_view text, int64_t now_ms);

/// "2026-11-02T08:00:00.500Z". Of years that have no such form it is the first or the last moment that has
/// one.
std::string format_wall_time(int64_t wall_ms);

}  // namespace fq
