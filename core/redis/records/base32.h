// base32 - random characters that a receipt may have.
#pragma once

// System.
#include <random>
#include <string>
#include <string_view>

namespace fq {

inline std::string draw_base32(size_t length) {
  constexpr std::string_view kDigits = "abcdefghijklmnopqrstuvwxyz234567";
  std::random_device random;
  std::string text;
  while (text.size() < length) text += kDigits[random() % kDigits.size()];
  return text;
}

}  // namespace fq
