// base32 - characters that a receipt and a key may have, at random or by number.
#pragma once

// System.
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace fq {

/// Of the lowest bits of `number`, five a character.
inline std::string base32_of(uint64_t number, size_t length) {
  constexpr std::string_view kDigits = "abcdefghijklmnopqrstuvwxyz234567";
  std::string text;
  for (; text.size() < length; number /= kDigits.size()) text += kDigits[number % kDigits.size()];
  return text;
}

inline std::string draw_base32(size_t length) {
  std::random_device random;
  std::string text;
  while (text.size() < length) text += base32_of(random(), 1);
  return text;
}

}  // namespace fq
