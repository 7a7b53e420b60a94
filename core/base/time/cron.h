// cron - five fields that say when: minute, hour, day of month, month, day of week.
//
// `*`, numbers, names of months and days, `a-b`, `a-b/n`, `*/n`, and lists of these. Where both day fields
// are restricted, either matches; a field that begins with `*` restricts nothing by this rule (`*/2` of the
// other field holds as well then). It is about what a clock shows, and knows nothing of zones.
#pragma once

// System.
#include <cstdint>
#include <optional>
#include <string_view>
// fq, below us.
#include "core/base/result.h"

namespace fq {

class Cron {
 public:
  /// Five fields, or `@hourly` and the like. ErrorKind::bad_data names the field that is wrong, or says that
  /// no date ever matches.
  static Result<Cron> parse(std::string_view text);

  /// The first whole minute at or after `local_s`, as the clock shows it, that matches; none within 30 years.
  std::optional<int64_t> next_local(int64_t local_s) const;
  /// Its hour is `*` or `*/n`: it goes by real time, whatever is done to the clocks.
  bool goes_by_real_time() const { return every_hour_; }

 private:
  Result<void> check_dates(std::string_view text) const;
  bool has_day(int64_t day) const;

  uint64_t minutes_ = 0;
  uint32_t hours_ = 0;
  uint32_t days_ = 0;      // 1 to 31
  uint32_t months_ = 0;    // 1 to 12
  uint32_t weekdays_ = 0;  // 0 to 6, Sunday first
  bool every_hour_ = false;
  bool either_day_ = false;  // both day fields are restricted
};

}  // namespace fq
