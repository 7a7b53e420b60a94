#include "core/base/text/wall_time.h"

// System.
#include <algorithm>
#include <cstdio>
// fq, this room.
#include "core/base/text/decimal.h"
#include "core/base/text/duration.h"

namespace fq {

namespace {

constexpr int64_t kSecondsMin = -62'135'596'800;  // 0001-01-01
constexpr int64_t kSecondsMax = 253'402'300'799;  // 9999-12-31T23:59:59

/// Days from 1970-01-01 in the proleptic Gregorian calendar; March is the first month of its year, so
/// that the leap day comes last.
constexpr int64_t days_of(int64_t year, int64_t month, int64_t day) {
  year -= month <= 2 ? 1 : 0;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146'097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719'468;
}
static_assert(days_of(1970, 1, 1) == 0);
static_assert(days_of(2000, 3, 1) == 11'017);

struct Date {
  int64_t year, month, day;
};

Date date_of(int64_t days) {
  days += 719'468;
  const int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
  const int64_t doe = days - era * 146'097;
  const int64_t yoe = (doe - doe / 1460 + doe / 36'524 - doe / 146'096) / 365;
  const int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  const int64_t shifted = (5 * doy + 2) / 153;
  const int64_t month = shifted + (shifted < 10 ? 3 : -9);
  return {yoe + era * 400 + (month <= 2 ? 1 : 0), month, doy - (153 * shifted + 2) / 5 + 1};
}

int64_t days_in(int64_t year, int64_t month) {
  const int64_t next = month == 12 ? days_of(year + 1, 1, 1) : days_of(year, month + 1, 1);
  return next - days_of(year, month, 1);
}

/// Takes exactly `digits` digits.
bool take(std::string_view& text, size_t digits, int64_t& value) {
  if (text.size() < digits) return false;
  value = 0;
  for (size_t i = 0; i < digits; ++i) {
    if (!is_digit(text[i])) return false;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return true;
}

bool take(std::string_view& text, std::string_view one_of) {
  if (text.empty() || one_of.find(text[0]) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

/// An optional ".123"; digits behind the ninth are cut.
bool take_fraction(std::string_view& text, int32_t& nanoseconds) {
  nanoseconds = 0;
  if (!take(text, ".")) return true;
  if (text.empty() || !is_digit(text[0])) return false;
  for (int32_t place = 100'000'000; !text.empty() && is_digit(text[0]); text.remove_prefix(1), place /= 10) {
    nanoseconds += (text[0] - '0') * place;
  }
  return true;
}

std::optional<Instant> parse_epoch(std::string_view text) {
  Instant at;
  const bool negative = take(text, "-");
  if (text.empty() || !is_digit(text[0])) return std::nullopt;
  for (; !text.empty() && is_digit(text[0]); text.remove_prefix(1)) {
    at.seconds = at.seconds * 10 + (text[0] - '0');
    if (at.seconds > kSecondsMax) return std::nullopt;
  }
  if (!take_fraction(text, at.nanoseconds) || !text.empty()) return std::nullopt;
  if (negative) {
    at.seconds = -at.seconds;
    if (at.nanoseconds > 0) at.seconds -= 1, at.nanoseconds = 1'000'000'000 - at.nanoseconds;
  }
  if (at.seconds < kSecondsMin) return std::nullopt;
  return at;
}

std::optional<Instant> parse_rfc3339(std::string_view text) {
  int64_t year, month, day, hour, minute, second;
  Instant at;
  if (!take(text, 4, year) || !take(text, "-") || !take(text, 2, month) || !take(text, "-") ||
      !take(text, 2, day) || !take(text, "Tt ") || !take(text, 2, hour) || !take(text, ":") ||
      !take(text, 2, minute) || !take(text, ":") || !take(text, 2, second) ||
      !take_fraction(text, at.nanoseconds)) {
    return std::nullopt;
  }
  int64_t offset = 0;
  if (!take(text, "Zz")) {
    int64_t offset_hour, offset_minute;
    const bool west = !text.empty() && text[0] == '-';
    if (!take(text, "+-") || !take(text, 2, offset_hour) || !take(text, ":") ||
        !take(text, 2, offset_minute) || offset_hour > 23 || offset_minute > 59) {
      return std::nullopt;
    }
    offset = (offset_hour * 60 + offset_minute) * (west ? -60 : 60);
  }
  // 60 is a leap second: it falls together with the next minute's first, as in every POSIX time.
  if (!text.empty() || year < 1 || month < 1 || month > 12 || day < 1 || day > days_in(year, month) ||
      hour > 23 || minute > 59 || second > 60) {
    return std::nullopt;
  }
  at.seconds = days_of(year, month, day) * kDaySeconds + hour * 3600 + minute * 60 + second - offset;
  if (at.seconds < kSecondsMin || at.seconds > kSecondsMax) return std::nullopt;
  return at;
}

}  // namespace

std::optional<Instant> parse_instant(std::string_view text) {
  if (text.starts_with('@')) return parse_epoch(text.substr(1));
  return parse_rfc3339(text);
}

std::optional<int64_t> parse_wall_time(std::string_view text, int64_t now_ms) {
  if (text.starts_with('+')) {
    const DurationParse span = parse_duration(text.substr(1));
    if (span.fault != DurationFault::none) return std::nullopt;
    return now_ms + span.ms;
  }
  const std::optional<Instant> at = parse_instant(text);
  if (!at) return std::nullopt;
  return at->seconds * 1000 + at->nanoseconds / 1'000'000;
}

std::string format_wall_time(int64_t wall_ms) {
  wall_ms = std::clamp(wall_ms, kSecondsMin * 1000, kSecondsMax * 1000 + 999);
  int64_t seconds = wall_ms / 1000;
  int64_t ms = wall_ms % 1000;
  if (ms < 0) ms += 1000, seconds -= 1;
  int64_t days = seconds / kDaySeconds;
  int64_t rest = seconds % kDaySeconds;
  if (rest < 0) rest += kDaySeconds, days -= 1;
  const Date date = date_of(days);
  char text[80];
  std::snprintf(text, sizeof text, "%04lld-%02lld-%02lldT%02lld:%02lld:%02lld.%03lldZ",
                static_cast<long long>(date.year), static_cast<long long>(date.month),
                static_cast<long long>(date.day), static_cast<long long>(rest / 3600),
                static_cast<long long>(rest / 60 % 60), static_cast<long long>(rest % 60),
                static_cast<long long>(ms));
  return text;
}

}  // namespace fq
