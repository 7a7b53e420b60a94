// zone - a time zone: the time that its clocks show at an instant, and when they are changed.
//
// Read from a file of the system's database (TZif, RFC 8536), whose last line is a rule for all later years.
// Instants are seconds since 1970 in UTC; a local time is what the clock shows, counted the same way.
#pragma once

// System.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/base/bytes.h"

namespace fq {

/// From `at_s` on the clocks are `after_s` east of UTC, and were `before_s` until then.
struct ClockChange {
  int64_t at_s = 0;
  int32_t before_s = 0;
  int32_t after_s = 0;
};

/// "CET-1CEST,M3.5.0,M10.5.0/3": the same two changes every year, or none. "CET-1CEST" has those of the USA.
struct ZoneRule {
  /// When in a year, and at which second of that day by the clock that holds until then.
  struct Day {
    enum class Kind { month_week_day, without_leap_day, with_leap_day } kind = Kind::month_week_day;
    int month = 0, week = 0, day = 0;
    int32_t second = 7200;
  };
  int32_t standard_s = 0;
  std::optional<int32_t> summer_s;
  Day to_summer, to_standard;

  /// None: it is no rule.
  static std::optional<ZoneRule> parse(std::string_view text);
};

class Zone {
 public:
  /// UTC.
  Zone() = default;
  explicit Zone(const ZoneRule& rule) : first_s_(rule.standard_s), rule_(rule) {}
  /// None: the bytes are no TZif, or count leap seconds.
  static std::optional<Zone> parse(Bytes tzif);

  int32_t offset_at(int64_t at_s) const;
  /// The first change after `at_s`; none: there is none for the next years.
  std::optional<ClockChange> next_change(int64_t at_s) const;
  /// When the clock shows `local_s` for the first time; where a change leaves it out, the moment of the
  /// change.
  int64_t first_at(int64_t local_s) const;

 private:
  std::optional<ClockChange> change_of_rule(int64_t after_s) const;

  int32_t first_s_ = 0;  // before the first change
  std::vector<int64_t> at_s_;
  std::vector<int32_t> after_s_;
  std::optional<ZoneRule> rule_;  // after the last one
};

}  // namespace fq
