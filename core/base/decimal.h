// decimal - digits, and whole decimal numbers read strictly: digits only, the whole text, no sign, no
// overflow.
#pragma once

// System.
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fq {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// None when `text` is anything but digits or the number does not fit.
inline std::optional<uint64_t> parse_decimal(std::string_view text) {
  if (text.empty() || !is_digit(text[0])) return std::nullopt;
  uint64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
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
