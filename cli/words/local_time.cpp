#include "cli/words/local_time.h"

// System.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <tuple>
// fq, below us.
#include "core/base/text/decimal.h"
#include "core/base/text/escape.h"
#include "core/base/text/wall_time.h"
#include "core/base/time/zone_file.h"

namespace fq::cli {

namespace {

constexpr size_t kDayBytes = 10;  // "2026-11-02"

Error refusal(std::string_view name, std::string_view text, std::string_view what) {
  return Error{ErrorKind::usage, std::string(name).append(": ").append(in_quotes(text)).append(what), 0};
}

/// "12:34" has the form "dd:dd".
bool has_form(std::string_view text, std::string_view form) {
  return text.size() == form.size() && std::equal(text.begin(), text.end(), form.begin(), [](char c, char f) {
           return f == 'd' ? is_digit(c) : c == f;
         });
}

bool is_clock(std::string_view text) { return has_form(text, "dd:dd") || has_form(text, "dd:dd:dd"); }

int number_at(std::string_view text, size_t at, size_t digits) {
  return static_cast<int>(*parse_decimal(text.substr(at, digits)));
}

/// "CET-1CEST,M3.5.0,M10.5.0/3": a name of three letters or more, then an offset.
bool is_rule(std::string_view zone) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  size_t name = 0;
  if (zone.starts_with('<')) {
    const size_t end = zone.find('>');
    name = end == std::string_view::npos ? 0 : end + 1;
  } else {
    while (name < zone.size() && is_letter(zone[name])) ++name;
  }
  if (name < 3) return false;
  zone.remove_prefix(name);
  if (!zone.empty() && (zone[0] == '+' || zone[0] == '-')) zone.remove_prefix(1);
  return !zone.empty() && is_digit(zone[0]);
}

/// The C library takes a zone that it does not know for UTC without a word. "": it is known.
std::string unknown_zone() {
  const char* set = std::getenv("TZ");
  std::string_view zone = set == nullptr ? "" : set;
  if (zone.starts_with(':')) zone.remove_prefix(1);
  if (zone.empty() || zone == "UTC" || zone == "UTC0" || zone == "GMT" || is_rule(zone)) return "";
  const char* directory = std::getenv("TZDIR");
  const std::string base = directory == nullptr ? "/usr/share/zoneinfo" : directory;
  const std::string path = zone.starts_with('/') ? std::string(zone) : base + "/" + std::string(zone);
  return is_zone_file(path) ? "" : std::string(zone);
}

std::tm local_of(int64_t seconds) {
  const auto at = static_cast<time_t>(seconds);
  std::tm fields{};
  ::localtime_r(&at, &fields);
  return fields;
}

bool same(const std::tm& a, const std::tm& b) {
  return a.tm_year == b.tm_year && a.tm_mon == b.tm_mon && a.tm_mday == b.tm_mday && a.tm_hour == b.tm_hour &&
         a.tm_min == b.tm_min && a.tm_sec == b.tm_sec;
}

/// None: a clock change leaves it out. Needs: a day of the calendar.
std::optional<int64_t> seconds_of(const std::tm& wanted) {
  std::optional<int64_t> first;
  for (const int summer : {1, 0, -1}) {
    std::tm fields = wanted;
    fields.tm_isdst = summer;
    const auto at = static_cast<int64_t>(::mktime(&fields));
    if (same(local_of(at), wanted)) first = std::min(first.value_or(at), at);
  }
  return first;
}

std::tm with_clock(std::tm day, std::string_view clock) {
  day.tm_hour = number_at(clock, 0, 2);
  day.tm_min = number_at(clock, 3, 2);
  day.tm_sec = clock.size() > 5 ? number_at(clock, 6, 2) : 0;
  return day;
}

std::optional<int64_t> on_day(const std::tm& day, std::string_view clock) {
  return seconds_of(with_clock(day, clock));
}

bool is_past(const std::tm& now, std::string_view clock) {
  const auto hands = [](const std::tm& at) { return std::tuple(at.tm_hour, at.tm_min, at.tm_sec); };
  return hands(now) > hands(with_clock(now, clock));
}

/// The day after, or before.
std::tm day_beside(const std::tm& day, int step) {
  std::tm other = day;
  other.tm_mday += step;
  other.tm_hour = 12;  // which is there on every day
  other.tm_min = other.tm_sec = 0;
  other.tm_isdst = -1;
  ::mktime(&other);
  return other;
}

std::optional<int64_t> nearest_seconds(std::string_view clock, int64_t now_ms, Nearest nearest) {
  const std::tm today = local_of(now_ms / 1000);
  const std::optional<int64_t> here = on_day(today, clock);
  const bool next = nearest == Nearest::next;
  const bool fits = here && (next ? *here * 1000 > now_ms : *here * 1000 <= now_ms);
  if (fits) return here;
  // Where the clocks are changed past it today their hands tell whether that was before now.
  if (!here && is_past(today, clock) != next) return here;
  return on_day(day_beside(today, next ? 1 : -1), clock);
}

}  // namespace

Result<std::optional<int64_t>> parse_local_time(std::string_view name, std::string_view text, int64_t now_ms,
                                                Nearest nearest) {
  const bool dated = text.size() > kDayBytes && has_form(text.substr(0, kDayBytes), "dddd-dd-dd") &&
                     text[kDayBytes] == ' ' && is_clock(text.substr(kDayBytes + 1));
  if (!dated && !is_clock(text)) return std::optional<int64_t>();
  const std::string_view clock = dated ? text.substr(kDayBytes + 1) : text;
  if (number_at(clock, 0, 2) > 23 || number_at(clock, 3, 2) > 59 ||
      (clock.size() > 5 && number_at(clock, 6, 2) > 59))
    return refusal(name, text, " is not a time of day");
  const std::string date(text.substr(0, dated ? kDayBytes : 0));
  if (dated && !parse_instant(date + "T00:00:00Z"))
    return refusal(name, text, " is not a date of the calendar");
  if (const std::string zone = unknown_zone(); !zone.empty()) {
    return Error{ErrorKind::config,
                 "TZ: " + in_quotes(zone) + " is not a known time zone; write the time as " +
                     (dated ? date : "2026-11-02") + "T" + std::string(clock.substr(0, 5)) +
                     ":00Z, or mend TZ",
                 0};
  }
  std::optional<int64_t> seconds;
  if (dated) {
    std::tm day{};
    day.tm_year = number_at(text, 0, 4) - 1900;
    day.tm_mon = number_at(text, 5, 2) - 1;
    day.tm_mday = number_at(text, 8, 2);
    seconds = on_day(day, clock);
  } else {
    seconds = nearest_seconds(clock, now_ms, nearest);
  }
  if (seconds) return std::optional(*seconds * 1000);
  return refusal(name, text, " does not exist: the clocks are changed past it");
}

std::string local_time_text(int64_t wall_ms) {
  const int64_t ms = (wall_ms % 1000 + 1000) % 1000;
  const std::tm at = local_of((wall_ms - ms) / 1000);
  char text[128];
  int used = std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03d", at.tm_year + 1900,
                           at.tm_mon + 1, at.tm_mday, at.tm_hour, at.tm_min, at.tm_sec, static_cast<int>(ms));
  const long minutes = std::abs(at.tm_gmtoff) / 60;
  if (minutes == 0) {
    text[used++] = 'Z';
  } else {
    used += std::snprintf(text + used, sizeof text - static_cast<size_t>(used), "%c%02ld:%02ld",
                          at.tm_gmtoff < 0 ? '-' : '+', minutes / 60, minutes % 60);
  }
  return std::string(text, static_cast<size_t>(used));
}

}  // namespace fq::cli
