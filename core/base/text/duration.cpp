#include "core/base/text/duration.h"

// fq, this room.
#include "core/base/text/decimal.h"

namespace fq {

namespace {

struct Unit {
  std::string_view name;
  int64_t ms;
};

// Largest first. "ms" stands before "m" only in the search below, by length.
constexpr Unit kUnits[] = {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}};

/// Whole and fraction of one number; the value is kept in microunits so that 1.5 is exact.
struct Number {
  bool ok = false;
  bool huge = false;
  int64_t whole = 0;
  int64_t millionths = 0;
  bool finer = false;  // more digits than six, not all zero
};

Number take_number(std::string_view& text) {
  Number number;
  if (text.empty() || !is_digit(text[0])) return number;
  number.ok = true;
  for (; !text.empty() && is_digit(text[0]); text.remove_prefix(1)) {
    if (number.whole > kDurationMsMax) number.huge = true;
    if (!number.huge) number.whole = number.whole * 10 + (text[0] - '0');
  }
  if (text.empty() || text[0] != '.') return number;
  text.remove_prefix(1);
  number.ok = !text.empty() && is_digit(text[0]);
  int64_t place = 100'000;
  for (; !text.empty() && is_digit(text[0]); text.remove_prefix(1), place /= 10) {
    number.millionths += (text[0] - '0') * place;
    number.finer = number.finer || (place == 0 && text[0] != '0');
  }
  return number;
}

const Unit* take_unit(std::string_view& text) {
  size_t letters = 0;
  while (letters < text.size() && !is_digit(text[letters])) ++letters;
  for (const Unit& unit : kUnits) {
    if (text.substr(0, letters) == unit.name) return text.remove_prefix(letters), &unit;
  }
  return nullptr;
}

}  // namespace

DurationParse parse_duration(std::string_view text) {
  constexpr DurationParse kBad{DurationFault::not_a_duration, 0};
  if (text.empty()) return kBad;
  int64_t total = 0;
  bool huge = false;
  const Unit* before = nullptr;
  while (!text.empty()) {
    const Number number = take_number(text);
    if (!number.ok) return kBad;
    const Unit* unit = take_unit(text);
    if (unit == nullptr || (before != nullptr && unit <= before)) return kBad;
    before = unit;
    // Both products fit: whole <= about 10 * kDurationMsMax / 1 only where it is not huge, so divide first.
    if (number.huge || number.whole > kDurationMsMax / unit->ms) {
      huge = true;
      continue;
    }
    const int64_t part = number.millionths * unit->ms;
    const bool rest = part % 1'000'000 != 0 || number.finer;
    total += number.whole * unit->ms + part / 1'000'000 + (rest ? 1 : 0);
    if (total > kDurationMsMax) huge = true;
    if (huge) total = 0;
  }
  if (huge) return {DurationFault::too_long, 0};
  return {DurationFault::none, total};
}

std::string format_duration(int64_t ms) {
  if (ms == 0) return "0s";
  std::string text;
  for (const Unit& unit : kUnits) {
    const int64_t count = ms / unit.ms;
    ms %= unit.ms;
    if (count > 0) text.append(std::to_string(count)).append(unit.name);
  }
  return text;
}

}  // namespace fq
