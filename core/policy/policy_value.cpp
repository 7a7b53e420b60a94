#include "core/policy/policy_value.h"

// System.
#include <algorithm>
#include <optional>
// fq, below us.
#include "core/api/message.h"
#include "core/base/assert.h"
#include "core/base/backoff.h"
#include "core/base/clock.h"
#include "core/base/text/decimal.h"
#include "core/base/text/duration.h"
#include "core/base/text/size.h"
#include "core/base/tenant_name.h"
#include "core/base/text/wall_time.h"

namespace fq {

namespace {

constexpr int64_t kCountMax = 1'000'000'000;  // arbitrary: far above what one machine holds
constexpr int64_t kRatePerMsMax = 100;        // 100,000 a second
constexpr int64_t kWeightMin = 100;           // thousandths
constexpr int64_t kWeightMax = 1'000'000;
constexpr size_t kDecimalsMax = 3;

struct RateUnit {
  std::string_view name;
  int64_t ms;
};
constexpr RateUnit kRateUnits[] = {{"s", 1000}, {"min", 60'000}, {"h", 3'600'000}, {"day", 86'400'000}};

struct Number {
  int64_t number = 0;
  int64_t second = 0;
};
using Parsed = std::optional<Number>;

Parsed parse_duration_value(std::string_view text) {
  const DurationParse parsed = parse_duration(text);
  if (parsed.fault != DurationFault::none || parsed.ms == 0) return std::nullopt;
  return Number{parsed.ms};
}

Parsed parse_range(std::string_view text) {
  const std::optional<BackoffRange> range = parse_backoff(text);
  if (!range) return std::nullopt;
  return Number{range->base_ms, range->max_ms};
}

Parsed parse_count(std::string_view text, int64_t most) {
  const std::optional<uint64_t> count = parse_decimal(text);
  if (!count || *count < 1 || *count > static_cast<uint64_t>(most)) return std::nullopt;
  return Number{static_cast<int64_t>(*count)};
}

Parsed parse_size_value(std::string_view text) {
  const std::optional<uint64_t> bytes = parse_size(text);
  if (!bytes || *bytes == 0 || *bytes >= static_cast<uint64_t>(kUnlimited)) return std::nullopt;
  return Number{static_cast<int64_t>(*bytes)};
}

Parsed parse_rate(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::optional<uint64_t> count = parse_decimal(text.substr(0, slash));
  for (const RateUnit& unit : kRateUnits) {
    if (text.substr(slash + 1) != unit.name) continue;
    if (!count || *count < 1 || *count > static_cast<uint64_t>(unit.ms * kRatePerMsMax)) return std::nullopt;
    return Number{static_cast<int64_t>(*count), unit.ms};
  }
  return std::nullopt;
}

Parsed parse_weight(std::string_view text) {
  const size_t point = text.find('.');
  const std::string_view decimals =
      point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  if (point != std::string_view::npos && decimals.empty()) return std::nullopt;
  if (decimals.size() > kDecimalsMax) return std::nullopt;
  std::string digits(text.substr(0, point));
  if (digits.empty()) return std::nullopt;
  digits.append(decimals).append(kDecimalsMax - decimals.size(), '0');
  const std::optional<uint64_t> thousandths = parse_decimal(digits);
  if (!thousandths || *thousandths < kWeightMin || *thousandths > kWeightMax) return std::nullopt;
  return Number{static_cast<int64_t>(*thousandths)};
}

Parsed parse_of_kind(const PolicyKeySpec& spec, std::string_view text) {
  switch (spec.kind) {
    case ValueKind::duration:
      return parse_duration_value(text);
    case ValueKind::range:
      return parse_range(text);
    case ValueKind::count:
      return parse_count(text, spec.key == PolicyKey::attempts ? int64_t{kAttemptsMax} : kCountMax);
    case ValueKind::size:
      return parse_size_value(text);
    case ValueKind::rate:
      return parse_rate(text);
    case ValueKind::weight:
      return parse_weight(text);
    case ValueKind::word:
    case ValueKind::pool:
      break;
  }
  return std::nullopt;
}

/// Of those that stand beside durations, counts and sizes.
int64_t number_of_word(std::string_view word) { return word == "none" ? 0 : kUnlimited; }

/// A word of the key's own.
Parsed parse_word(const PolicyKeySpec& spec, std::string_view text) {
  const std::vector<std::string_view> words = split_words(spec.words);
  const auto found = std::find(words.begin(), words.end(), text);
  if (found == words.end()) return std::nullopt;
  if (spec.kind == ValueKind::word) return Number{found - words.begin()};
  return Number{number_of_word(text)};
}

/// "" where the key has no word for the number.
std::string_view word_for(const PolicyKeySpec& spec, int64_t number) {
  for (const std::string_view word : split_words(spec.words)) {
    if (number_of_word(word) == number) return word;
  }
  return number == kUnlimited ? "unlimited" : "";
}

/// With the largest unit that divides it; what is written shorter wins, binary units if equal.
std::string exact_size(int64_t bytes) {
  std::string best = std::to_string(bytes) + "B";
  const auto try_units = [&](std::initializer_list<std::string_view> names, int64_t step) {
    int64_t unit = 1;
    for (const std::string_view name : names) {
      unit *= step;
      if (bytes % unit != 0) return;
      std::string text = std::to_string(bytes / unit).append(name);
      if (text.size() <= best.size()) best = std::move(text);
    }
  };
  try_units({"kB", "MB", "GB", "TB"}, 1000);
  try_units({"KiB", "MiB", "GiB", "TiB"}, 1024);
  return best;
}

std::string token_rate_text(const PolicyValue& value) {
  for (const RateUnit& unit : kRateUnits) {
    if (unit.ms == value.second) return std::to_string(value.number).append("/").append(unit.name);
  }
  return std::to_string(value.number).append("/").append(format_duration(value.second));
}

std::string weight_text(int64_t thousandths) {
  std::string text = std::to_string(thousandths / 1000);
  if (thousandths % 1000 == 0) return text;
  std::string decimals = std::to_string(1000 + thousandths % 1000).substr(1);
  while (decimals.back() == '0') decimals.pop_back();
  return text.append(".").append(decimals);
}

}  // namespace

Result<PolicyValue> parse_policy_value(const PolicyKeySpec& spec, std::string_view text) {
  Parsed parsed = parse_word(spec, text);
  if (!parsed && spec.kind == ValueKind::pool && queue_name_fault(text).empty()) {
    return PolicyValue{spec.key, 0, 0, std::string(text)};
  }
  if (!parsed) parsed = parse_of_kind(spec, text);
  if (!parsed) return Error{ErrorKind::usage, std::string(spec.must_be), 0};
  return PolicyValue{spec.key, parsed->number, parsed->second, {}};
}

bool is_word_only(const PolicyKeySpec& spec, const PolicyValue& value) {
  if (spec.kind == ValueKind::word || spec.kind == ValueKind::pool) return false;
  return value.number == kUnlimited || (value.number == 0 && spec.kind == ValueKind::duration);
}

std::string policy_value_text(const PolicyValue& value) {
  if (value.key == PolicyKey::limited) return format_duration((value.number + 999) / 1000 * 1000);
  const PolicyKeySpec* spec = spec_of(value.key);
  if (spec == nullptr) return "yes";
  if (is_word_only(*spec, value)) return std::string(word_for(*spec, value.number));
  switch (spec->kind) {
    case ValueKind::word: {
      const std::vector<std::string_view> words = split_words(spec->words);
      const auto place = static_cast<size_t>(value.number);
      return place < words.size() ? std::string(words[place]) : std::to_string(value.number);
    }
    case ValueKind::duration:
      return format_duration(value.number);
    case ValueKind::range:
      return format_duration(value.number).append("..").append(format_duration(value.second));
    case ValueKind::count:
      return std::to_string(value.number);
    case ValueKind::size:
      return exact_size(value.number);
    case ValueKind::rate:
      return token_rate_text(value);
    case ValueKind::weight:
      return weight_text(value.number);
    case ValueKind::pool:
      return value.text.empty() ? "none" : value.text;
  }
  return "";
}

void write_policy_value(JsonWriter& json, const PolicyValue& value) {
  const PolicyKeySpec* spec = spec_of(value.key);
  if (value.key == PolicyKey::limited) {
    json.text(format_wall_time(system_clock().wall_ms() + value.number));
  } else if (spec == nullptr) {
    json.boolean(true);
  } else if (is_word_only(*spec, value)) {
    json.text(policy_value_text(value));
  } else if (spec->kind == ValueKind::count) {
    json.number(value.number);
  } else if (spec->kind == ValueKind::weight) {
    json.number(static_cast<double>(value.number) / 1000);
  } else {
    json.text(policy_value_text(value));
  }
}

PolicyValue standard_of(const PolicyKeySpec& spec) {
  Result<PolicyValue> value = parse_policy_value(spec, spec.standard);
  FQ_ASSERT(value.ok());
  if (spec.key == PolicyKey::attempts) value->second = 1;  // nobody set it
  return std::move(value).value();
}

}  // namespace fq
