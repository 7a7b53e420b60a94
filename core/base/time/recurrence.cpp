#include "core/base/time/recurrence.h"

// System.
#include <algorithm>
#include <string>
// fq, below us.
#include "core/base/clock.h"
#include "core/base/limits.h"
#include "core/base/text/duration.h"
#include "core/base/text/escape.h"

namespace fq {

namespace {

constexpr std::string_view kEvery = "every ", kEveryAlone = "every";
constexpr int64_t kYearMs = int64_t{366} * 86'400'000;

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace

Result<Recurrence> Recurrence::parse(std::string_view spec) {
  if (spec.size() > kScheduleSpecBytesMax) {
    return Error{ErrorKind::bad_data,
                 "schedule: has " + std::to_string(spec.size()) + " characters, the limit is " +
                     std::to_string(kScheduleSpecBytesMax),
                 0};
  }
  Recurrence recurrence;
  if (!spec.starts_with(kEvery) && spec != kEveryAlone) {
    FQ_TRY_SET(recurrence.cron_, Cron::parse(spec));
    return recurrence;
  }
  std::string_view text = spec.substr(std::min(spec.size(), kEvery.size()));
  while (text.starts_with(' ')) text.remove_prefix(1);
  const DurationParse interval = parse_duration(text);
  if (interval.fault != DurationFault::none || interval.ms < kShortestIntervalMs) {
    const char* what = interval.fault == DurationFault::not_a_duration ? " has no duration; write `every 10m`"
                       : interval.fault == DurationFault::too_long     ? " is too long; the limit is 36500d"
                       : interval.ms == 0 ? " is not an interval; the shortest is 1s"
                                          : " is not from 1s to 36500d";
    return Error{ErrorKind::bad_data, "schedule: " + in_quotes(spec) + what, 0};
  }
  recurrence.interval_ms_ = interval.ms;
  return recurrence;
}

std::optional<int64_t> Recurrence::next_by_clock(int64_t after_s, const Zone& zone) const {
  int64_t local_s = after_s + zone.offset_at(after_s);
  for (;;) {
    const std::optional<int64_t> found = cron_.next_local(local_s);
    if (!found) return std::nullopt;
    const int64_t at_s = zone.first_at(*found);
    // A second showing of the same hour, or what the last change has left out and was due with it.
    if (at_s > after_s) return at_s;
    local_s = *found + 60;
  }
}

std::optional<int64_t> Recurrence::next_by_real_time(int64_t after_s, const Zone& zone) const {
  int64_t from_s = after_s + 1;
  for (;;) {
    const int32_t offset_s = zone.offset_at(from_s);
    const std::optional<ClockChange> change = zone.next_change(from_s);
    const std::optional<int64_t> found = cron_.next_local(from_s + offset_s);
    if (found && (!change || *found - offset_s < change->at_s)) return *found - offset_s;
    if (!change || (!found && change->at_s > after_s + kYearMs / 1000 * 30)) return std::nullopt;
    from_s = change->at_s;
  }
}

std::optional<int64_t> Recurrence::next(int64_t wall_ms, const Zone& zone, int64_t anchor_ms) const {
  if (wall_ms > kLatestMs) return std::nullopt;
  if (interval_ms_ != 0) {
    const int64_t passed = floor_div(wall_ms - anchor_ms, interval_ms_);
    return anchor_ms + (passed + 1) * interval_ms_;
  }
  const int64_t after_s = floor_div(wall_ms, 1000);
  const std::optional<int64_t> at_s =
      cron_.goes_by_real_time() ? next_by_real_time(after_s, zone) : next_by_clock(after_s, zone);
  return at_s ? std::optional(*at_s * 1000) : std::nullopt;
}

std::optional<int64_t> Recurrence::last(int64_t from_ms, int64_t to_ms, const Zone& zone,
                                        int64_t anchor_ms) const {
  if (to_ms <= from_ms) return std::nullopt;
  if (interval_ms_ != 0) {
    const int64_t at_ms = anchor_ms + floor_div(to_ms - anchor_ms, interval_ms_) * interval_ms_;
    return at_ms > from_ms ? std::optional(at_ms) : std::nullopt;
  }
  // Twice as far back each time, so that what came often is not walked from the beginning.
  constexpr int64_t kFirstStepMs = 120'000;
  for (int64_t back_ms = kFirstStepMs;; back_ms *= 2) {
    const int64_t begin_ms = std::max(from_ms, to_ms - back_ms);
    std::optional<int64_t> found;
    for (auto at = next(begin_ms, zone, anchor_ms); at && *at <= to_ms; at = next(*at, zone, anchor_ms))
      found = at;
    if (found || begin_ms == from_ms) return found;
  }
}

}  // namespace fq
