#include "core/base/time/cron.h"

// System.
#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <vector>
// fq, below us.
#include "core/base/text/decimal.h"
#include "core/base/text/escape.h"
#include "core/base/text/wall_time.h"

namespace fq {

namespace {

constexpr int kYearsMax = 30;

constexpr std::array<std::string_view, 12> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                                      "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kWeekdays = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
constexpr uint64_t kSunday = 7;  // besides 0

struct FieldKind {
  std::string_view name;
  uint64_t least, most;
};
constexpr std::array<FieldKind, 5> kFields = {{{"minute", 0, 59},
                                               {"hour", 0, 23},
                                               {"day of month", 1, 31},
                                               {"month", 1, 12},
                                               {"day of week", 0, kSunday}}};

struct Nickname {
  std::string_view name, spec;
};
constexpr std::array<Nickname, 7> kNicknames = {{{"@yearly", "0 0 1 1 *"},
                                                 {"@annually", "0 0 1 1 *"},
                                                 {"@monthly", "0 0 1 * *"},
                                                 {"@weekly", "0 0 * * 0"},
                                                 {"@daily", "0 0 * * *"},
                                                 {"@midnight", "0 0 * * *"},
                                                 {"@hourly", "0 * * * *"}}};

Error refusal(std::string what) { return Error{ErrorKind::bad_data, "schedule: " + std::move(what), 0}; }

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::vector<std::string_view> words_of(std::string_view text, std::string_view separators, bool skip_empty) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find_first_of(separators, at), text.size());
    if (end > at || !skip_empty) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

/// One field: a bit for each number that it takes.
class Field {
 public:
  Field(const FieldKind& kind, std::string_view text) : kind_(kind), text_(text) {}

  Result<uint64_t> bits() const {
    uint64_t bits = 0;
    for (const std::string_view part : words_of(text_, ",", false)) {
      FQ_TRY_SET(const uint64_t more, bits_of(part));
      bits |= more;
    }
    return bits;
  }

 private:
  Result<uint64_t> bits_of(std::string_view part) const {
    uint64_t step = 1;
    const size_t slash = part.find('/');
    const std::string_view range = part.substr(0, slash);
    if (slash != std::string_view::npos) {
      const auto asked = parse_decimal(part.substr(slash + 1));
      if (!asked || *asked == 0) return refuse(part, "has no step from 1 up");
      if (*asked > kind_.most) return refuse(part, "has a step that is too large");
      step = *asked;
    }
    uint64_t from = kind_.least, to = kind_.most;
    if (range != "*") {
      const size_t dash = range.find('-');
      FQ_TRY_SET(from, number_of(range.substr(0, dash), part, false));
      to = from;
      if (dash != std::string_view::npos) {
        FQ_TRY_SET(to, number_of(range.substr(dash + 1), part, true));
      }
      if (dash == std::string_view::npos && slash != std::string_view::npos)
        return refuse(part, "has a step and no range; write it as in 5-59/15");
      if (from > to) return refuse(part, "ends before it begins");
    } else if (is_weekday()) {
      to = kSunday - 1;
    }
    uint64_t bits = 0;
    for (uint64_t each = from; each <= to; each += step) bits |= uint64_t{1} << each;
    return bits;
  }

  bool is_weekday() const { return kind_.most == kSunday; }

  Result<uint64_t> number_of(std::string_view text, std::string_view part, bool ends) const {
    const std::string name = lower(text);
    if (kind_.most == kMonths.size()) {
      const auto found = std::find(kMonths.begin(), kMonths.end(), name);
      if (found != kMonths.end()) return static_cast<uint64_t>(found - kMonths.begin()) + 1;
    }
    if (is_weekday()) {
      const auto found = std::find(kWeekdays.begin(), kWeekdays.end(), name);
      // "fri-sun": a week ends with the Sunday that it began with.
      if (found == kWeekdays.begin() && ends) return kSunday;
      if (found != kWeekdays.end()) return static_cast<uint64_t>(found - kWeekdays.begin());
    }
    const auto number = parse_decimal(text);
    if (number && *number >= kind_.least && *number <= kind_.most) return *number;
    return refuse(part, "is not from " + std::to_string(kind_.least) + " to " + std::to_string(kind_.most));
  }

  Error refuse(std::string_view part, const std::string& what) const {
    return refusal(std::string(kind_.name) + ": " + in_quotes(part) + " " + what);
  }

  const FieldKind& kind_;
  std::string_view text_;
};

int days_in(unsigned month) {
  constexpr std::array<int, 12> kDays = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return kDays[month - 1];
}

}  // namespace

Result<Cron> Cron::parse(std::string_view text) {
  std::string_view spec = text;
  if (text.starts_with('@')) {
    const auto* found = std::find_if(kNicknames.begin(), kNicknames.end(),
                                     [&](const Nickname& each) { return each.name == lower(text); });
    if (found == kNicknames.end()) {
      return refusal(in_quotes(text) +
                     " is not known; @hourly, @daily, @weekly, @monthly and @yearly are, and `every DUR`");
    }
    spec = found->spec;
  }
  const std::vector<std::string_view> words = words_of(spec, " \t", true);
  if (words.size() != kFields.size()) {
    return refusal(
        in_quotes(text) + " has " + std::to_string(words.size()) +
        " fields; write five (minute, hour, day of month, month, day of week), @daily or `every 10m`");
  }
  std::array<uint64_t, kFields.size()> bits{};
  for (size_t i = 0; i < words.size(); ++i) {
    FQ_TRY_SET(bits[i], Field(kFields[i], words[i]).bits());
  }
  Cron cron;
  cron.minutes_ = bits[0];
  cron.hours_ = static_cast<uint32_t>(bits[1]);
  cron.days_ = static_cast<uint32_t>(bits[2]);
  cron.months_ = static_cast<uint32_t>(bits[3]);
  cron.weekdays_ = static_cast<uint32_t>((bits[4] | bits[4] >> kSunday) & 0x7f);
  cron.every_hour_ =
      words[1] == "*" || (words[1].starts_with("*/") && words[1].find(',') == std::string_view::npos);
  cron.either_day_ = !words[2].starts_with('*') && !words[4].starts_with('*');
  FQ_TRY(cron.check_dates(text));
  return cron;
}

/// A day that no month of it has, and no day of the week that would do instead.
Result<void> Cron::check_dates(std::string_view text) const {
  if (either_day_) return {};
  for (unsigned month = 1; month <= 12; ++month) {
    if ((months_ >> month & 1) == 0) continue;
    for (int day = 1; day <= days_in(month); ++day) {
      if ((days_ >> day & 1) != 0) return {};
    }
  }
  return refusal("day of month: no month of " + in_quotes(text) + " has such a day");
}

bool Cron::has_day(int64_t day) const {
  using namespace std::chrono;
  const sys_days date{days(day)};
  const year_month_day fields(date);
  if ((months_ >> static_cast<unsigned>(fields.month()) & 1) == 0) return false;
  const bool of_month = (days_ >> static_cast<unsigned>(fields.day()) & 1) != 0;
  const bool of_week = (weekdays_ >> weekday(date).c_encoding() & 1) != 0;
  return either_day_ ? of_month || of_week : of_month && of_week;
}

std::optional<int64_t> Cron::next_local(int64_t local_s) const {
  const int64_t minute = (local_s + 59 - (local_s + 59 < 0 ? 59 : 0)) / 60;
  const int64_t first_day = (minute - (minute < 0 ? 1439 : 0)) / 1440;
  auto in_day = static_cast<unsigned>(minute - first_day * 1440);
  for (int64_t day = first_day; day < first_day + kYearsMax * 366; ++day, in_day = 0) {
    if (!has_day(day)) continue;
    for (unsigned hour = in_day / 60; hour < 24; ++hour) {
      if ((hours_ >> hour & 1) == 0) continue;
      const unsigned from = hour == in_day / 60 ? in_day % 60 : 0;
      for (unsigned at = from; at < 60; ++at) {
        if ((minutes_ >> at & 1) != 0) return day * kDaySeconds + hour * 3600 + at * 60;
      }
    }
  }
  return std::nullopt;
}

}  // namespace fq
