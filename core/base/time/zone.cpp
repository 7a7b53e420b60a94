#include "core/base/time/zone.h"

// System.
#include <algorithm>
#include <chrono>
#include <cstring>
// fq, below us.
#include "core/base/text/wall_time.h"

namespace fq {

namespace {

constexpr std::string_view kUsualDays = ",M3.2.0,M11.1.0";  // of a rule that names none, as glibc has them
constexpr int kYearsOfRule = 2;                             // a rule has changes each year, or none
constexpr int64_t kFarthest = 30 * kDaySeconds;             // no clock differs more from UTC, by any rule

// ---- TZif ------------------------------------------------------------------------------------------

constexpr size_t kHeaderBytes = 44;

/// Big-endian, from the front on; broken once it was asked for more than there is.
class ZoneBytes {
 public:
  explicit ZoneBytes(Bytes bytes) : left_(bytes) {}

  int64_t number(size_t bytes) {
    uint64_t value = 0;
    for (const std::byte byte : take(bytes)) value = value << 8 | static_cast<uint64_t>(byte);
    const size_t unused = 64 - 8 * bytes;
    return static_cast<int64_t>(value << unused) >> unused;
  }
  Bytes take(uint64_t bytes) {
    if (bytes > left_.size()) broken_ = true;
    if (broken_) return {};
    const Bytes taken = left_.first(bytes);
    left_ = left_.subspan(bytes);
    return taken;
  }
  Bytes rest() const { return left_; }
  bool broken() const { return broken_; }

 private:
  Bytes left_;
  bool broken_ = false;
};

struct Counts {
  char version = 0;
  uint64_t utc = 0, standard = 0, leaps = 0, changes = 0, types = 0, chars = 0;

  uint64_t block_bytes(uint64_t time_bytes) const {
    return changes * (time_bytes + 1) + types * 6 + chars + leaps * (time_bytes + 4) + standard + utc;
  }
};

std::optional<Counts> read_counts(ZoneBytes& reader) {
  const Bytes magic = reader.take(4);
  if (reader.broken() || std::memcmp(magic.data(), "TZif", 4) != 0) return std::nullopt;
  Counts counts;
  counts.version = static_cast<char>(reader.number(1));
  reader.take(15);
  for (uint64_t* count :
       {&counts.utc, &counts.standard, &counts.leaps, &counts.changes, &counts.types, &counts.chars})
    *count = static_cast<uint64_t>(reader.number(4)) & UINT32_MAX;
  if (reader.broken() || counts.types == 0 || counts.leaps != 0) return std::nullopt;
  return counts;
}

// ---- rules -----------------------------------------------------------------------------------------

bool is_name_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Of what POSIX says of TZ; each takes what it reads from the front.
struct RuleReader {
  std::string_view left;

  bool take(char c) {
    if (left.empty() || left[0] != c) return false;
    left.remove_prefix(1);
    return true;
  }
  bool name() {
    size_t end = 0;
    if (take('<')) {
      end = left.find('>');
      if (end == std::string_view::npos) return false;
      left.remove_prefix(end + 1);
      return end >= 3;
    }
    while (end < left.size() && is_name_letter(left[end])) ++end;
    left.remove_prefix(end);
    return end >= 3;
  }
  std::optional<int> number(int most) {
    int value = 0;
    size_t digits = 0;
    for (; digits < left.size() && digits < 3 && left[digits] >= '0' && left[digits] <= '9'; ++digits)
      value = value * 10 + (left[digits] - '0');
    left.remove_prefix(digits);
    return digits == 0 || value > most ? std::nullopt : std::optional(value);
  }
  /// "[+-]hh[:mm[:ss]]".
  std::optional<int32_t> span(int hours_max) {
    const int sign = take('-') ? -1 : 1;
    if (sign > 0) static_cast<void>(take('+'));
    const std::optional<int> hours = number(hours_max);
    if (!hours) return std::nullopt;
    int32_t seconds = *hours * 3600;
    for (const int unit : {60, 1}) {
      if (!take(':')) break;
      const std::optional<int> part = number(59);
      if (!part) return std::nullopt;
      seconds += *part * unit;
    }
    return sign * seconds;
  }
  bool day(ZoneRule::Day& into) {
    using DayKind = ZoneRule::Day::Kind;
    std::optional<int> month(0), week(0), day_of;
    if (take('M')) {
      into.kind = DayKind::month_week_day;
      month = number(12);
      if (!take('.')) return false;
      week = number(5);
      if (!take('.')) return false;
      day_of = number(6);
      if (!month || !week || *month == 0 || *week == 0) return false;
    } else {
      into.kind = take('J') ? DayKind::without_leap_day : DayKind::with_leap_day;
      day_of = number(365);
      if (day_of && *day_of == 0 && into.kind == DayKind::without_leap_day) return false;
    }
    if (!day_of) return false;
    into.month = *month;
    into.week = *week;
    into.day = *day_of;
    if (!take('/')) return true;
    const std::optional<int32_t> second = span(167);
    if (second) into.second = *second;
    return second.has_value();
  }
};

/// The day of the rule in that year, since 1970.
int64_t days_of(const ZoneRule::Day& day, int year) {
  using namespace std::chrono;
  const sys_days first = std::chrono::year{year} / January / 1;
  const int64_t first_day = first.time_since_epoch().count();
  switch (day.kind) {
    case ZoneRule::Day::Kind::with_leap_day:
      return first_day + day.day;
    case ZoneRule::Day::Kind::without_leap_day:
      return first_day + day.day - 1 + (std::chrono::year{year}.is_leap() && day.day > 59 ? 1 : 0);
    case ZoneRule::Day::Kind::month_week_day:
      break;
  }
  const std::chrono::month month{static_cast<unsigned>(day.month)};
  const weekday wanted{static_cast<unsigned>(day.day)};
  const sys_days found =
      day.week == 5 ? sys_days(std::chrono::year{year} / month / wanted[last])
                    : sys_days(std::chrono::year{year} / month / wanted[static_cast<unsigned>(day.week)]);
  return found.time_since_epoch().count();
}

int year_of(int64_t at_s) {
  using namespace std::chrono;
  const int64_t day = (at_s - (at_s < 0 ? kDaySeconds - 1 : 0)) / kDaySeconds;
  return static_cast<int>(year_month_day(sys_days(days(day))).year());
}

}  // namespace

std::optional<ZoneRule> ZoneRule::parse(std::string_view text) {
  RuleReader reader{text};
  ZoneRule rule;
  if (!reader.name()) return std::nullopt;
  const std::optional<int32_t> west = reader.span(24);
  if (!west) return std::nullopt;
  rule.standard_s = -*west;
  if (reader.left.empty()) return rule;
  if (!reader.name()) return std::nullopt;
  rule.summer_s = rule.standard_s + 3600;
  if (!reader.left.empty() && reader.left[0] != ',') {
    const std::optional<int32_t> summer_west = reader.span(24);
    if (!summer_west) return std::nullopt;
    rule.summer_s = -*summer_west;
  }
  if (reader.left.empty()) reader.left = kUsualDays;
  const bool both = reader.take(',') && reader.day(rule.to_summer) && reader.take(',') &&
                    reader.day(rule.to_standard) && reader.left.empty();
  return both ? std::optional(rule) : std::nullopt;
}

std::optional<Zone> Zone::parse(Bytes tzif) {
  ZoneBytes reader(tzif);
  std::optional<Counts> counts = read_counts(reader);
  if (!counts) return std::nullopt;
  size_t time_bytes = 4;
  if (counts->version >= '2') {
    reader.take(counts->block_bytes(4));
    counts = read_counts(reader);
    if (!counts) return std::nullopt;
    time_bytes = 8;
  }
  if (counts->block_bytes(time_bytes) > reader.rest().size()) return std::nullopt;
  Zone zone;
  for (uint64_t i = 0; i < counts->changes; ++i) zone.at_s_.push_back(reader.number(time_bytes));
  const Bytes types = reader.take(counts->changes);
  std::vector<int32_t> offsets;
  for (uint64_t i = 0; i < counts->types; ++i) {
    offsets.push_back(static_cast<int32_t>(reader.number(4)));
    reader.take(2);
  }
  reader.take(counts->chars + counts->standard + counts->utc);
  if (reader.broken() || !std::is_sorted(zone.at_s_.begin(), zone.at_s_.end())) return std::nullopt;
  for (const std::byte type : types) {
    if (static_cast<size_t>(type) >= offsets.size()) return std::nullopt;
    zone.after_s_.push_back(offsets[static_cast<size_t>(type)]);
  }
  zone.first_s_ = offsets[0];
  const bool sane = std::all_of(offsets.begin(), offsets.end(),
                                [](int32_t offset) { return offset > -kFarthest && offset < kFarthest; });
  if (!sane) return std::nullopt;
  std::string_view footer = as_text(reader.rest());
  if (time_bytes == 4 || footer.size() < 2 || footer.front() != '\n' || footer.back() != '\n') return zone;
  footer = footer.substr(1, footer.size() - 2);
  if (footer.empty()) return zone;
  zone.rule_ = ZoneRule::parse(footer);
  return zone.rule_ ? std::optional(std::move(zone)) : std::nullopt;
}

int32_t Zone::offset_at(int64_t at_s) const {
  const auto next = std::upper_bound(at_s_.begin(), at_s_.end(), at_s);
  const int32_t known = next == at_s_.begin() ? first_s_ : after_s_[size_t(next - at_s_.begin()) - 1];
  if (!rule_ || next != at_s_.end()) return known;
  if (!rule_->summer_s) return rule_->standard_s;
  // The next change of the rule says what holds until it, whether the list's end is before or after the last.
  const std::optional<ClockChange> change = change_of_rule(at_s);
  return change ? change->before_s : rule_->standard_s;
}

/// The first after that time, as if the rule had always held.
std::optional<ClockChange> Zone::change_of_rule(int64_t after_s) const {
  const ZoneRule& rule = *rule_;
  if (!rule.summer_s) return std::nullopt;
  std::optional<ClockChange> first;
  const int year = year_of(after_s);
  for (int each = year - 1; each <= year + kYearsOfRule; ++each) {
    const ClockChange summer{
        days_of(rule.to_summer, each) * kDaySeconds + rule.to_summer.second - rule.standard_s,
        rule.standard_s, *rule.summer_s};
    const ClockChange standard{
        days_of(rule.to_standard, each) * kDaySeconds + rule.to_standard.second - *rule.summer_s,
        *rule.summer_s, rule.standard_s};
    for (const ClockChange& change : {summer, standard}) {
      if (change.at_s > after_s && (!first || change.at_s < first->at_s)) first = change;
    }
  }
  return first;
}

std::optional<ClockChange> Zone::next_change(int64_t at_s) const {
  const auto next = std::upper_bound(at_s_.begin(), at_s_.end(), at_s);
  if (next != at_s_.end()) {
    const auto i = static_cast<size_t>(next - at_s_.begin());
    return ClockChange{*next, i == 0 ? first_s_ : after_s_[i - 1], after_s_[i]};
  }
  return rule_ ? change_of_rule(at_s) : std::nullopt;
}

int64_t Zone::first_at(int64_t local_s) const {
  // No clock is further from UTC than that, so the first moment lies behind this one.
  int64_t from_s = local_s - 2 * kDaySeconds;
  int32_t offset_s = offset_at(from_s);
  for (;;) {
    const std::optional<ClockChange> change = next_change(from_s);
    const int64_t candidate_s = local_s - offset_s;
    if (!change || candidate_s < change->at_s) return candidate_s;
    // The clocks are put forward past it.
    if (local_s < change->at_s + change->after_s) return change->at_s;
    from_s = change->at_s;
    offset_s = change->after_s;
  }
}

}  // namespace fq
