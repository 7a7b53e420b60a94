#include "cli/words/since.h"

// System.
#include <algorithm>
#include <string>
// fq, below us.
#include "core/base/text/decimal.h"
#include "core/base/text/duration.h"
#include "core/base/text/escape.h"
#include "core/base/text/wall_time.h"
// fq, this room.
#include "cli/words/local_time.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr size_t kDateBytes = 10;  // "2026-11-02"

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

/// "@123", with what a fraction may look like behind it: a time, if perhaps none that can be kept.
bool is_epoch(std::string_view text) {
  if (!text.starts_with('@')) return false;
  text.remove_prefix(text.starts_with("@-") ? 2 : 1);
  const size_t point = text.find('.');
  return all_digits(text.substr(0, point)) && (point == text.npos || all_digits(text.substr(point + 1)));
}

bool looks_like_date(std::string_view text) {
  return text.size() >= kDateBytes && all_digits(text.substr(0, 4)) && text[4] == '-' &&
         all_digits(text.substr(5, 2)) && text[7] == '-' && all_digits(text.substr(8, 2));
}

bool is_time(const std::string& text) { return parse_instant(text).has_value(); }

std::string why_refused(std::string_view typed) {
  const std::string text(typed);
  if (all_digits(typed)) {
    return "has no unit; write " + text + "s, " + text + "m or " + text + "h, or @" + text +
           " for that second since 1970";
  }
  if (is_epoch(typed)) return "is behind the year 9999";
  if (typed.starts_with('+') && parse_duration(typed.substr(1)).fault == DurationFault::too_long)
    return "is too long; the limit is 36500d";
  if (is_time(text + "T00:00:00Z")) return "has no time of day; write " + text + "T00:00:00Z";
  if (is_time(text + "Z")) return "has no time zone; write " + text + "Z";
  if (looks_like_date(typed) && !is_time(text.substr(0, kDateBytes) + "T00:00:00Z"))
    return "is not a date of the calendar";
  return "is neither a time nor a duration; write 2h, 08:00, '2026-11-02 08:00', @EPOCH or "
         "2026-11-02T08:00:00Z";
}

}  // namespace

Result<int64_t> to_since(std::string_view name, std::string_view typed, int64_t now_ms) {
  const DurationParse span = parse_duration(typed);
  if (span.fault == DurationFault::none) return now_ms - span.ms;
  if (span.fault == DurationFault::too_long) return INT64_MIN;
  FQ_TRY_SET(const std::optional<int64_t> local, parse_local_time(name, typed, now_ms, Nearest::last));
  if (local) return *local;
  if (const std::optional<int64_t> at = parse_wall_time(typed, now_ms)) return *at;
  if (is_epoch(typed) && typed.starts_with("@-")) return INT64_MIN;
  return usage_error(name, in_quotes(typed) + " " + why_refused(typed));
}

}  // namespace fq::cli
