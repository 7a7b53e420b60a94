// decimal - digits, and whole decimal numbers read strictly: digits only, the whole text, no sign, no
// overflow.
#pragma once

// System.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fq {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The number that `text` begins with, which is taken off. None when there is none, or it does not fit.
/// Receipts and ids come by here: from_chars takes twice as long.
inline std::optional<uint64_t> take_decimal(std::string_view& text) {
  constexpr size_t kFitMax = 19;  // no number of so many digits is too large
  uint64_t value = 0;
  size_t digits = 0;
  for (const size_t end = std::min(text.size(), kFitMax); digits < end; ++digits) {
    const auto digit = static_cast<unsigned>(text[digits]) - '0';
    if (digit > 9) break;
    value = value * 10 + digit;
  }
  for (; digits < text.size() && is_digit(text[digits]); ++digits) {
    const auto digit = static_cast<uint64_t>(text[digits] - '0');
    if (__builtin_mul_overflow(value, uint64_t{10}, &value)) return std::nullopt;
    if (__builtin_add_overflow(value, digit, &value)) return std::nullopt;
  }
  if (digits == 0) return std::nullopt;
  text.remove_prefix(digits);
  return value;
}

/// None when `text` is anything but digits or the number does not fit.
inline std::optional<uint64_t> parse_decimal(std::string_view text) {
  const std::optional<uint64_t> value = take_decimal(text);
  return text.empty() ? value : std::nullopt;
}

/// The same with an optional sign.
inline std::optional<int64_t> parse_signed(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace fq
