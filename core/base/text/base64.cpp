#include "core/base/text/base64.h"

// System.
#include <cstdint>

namespace fq {

namespace {

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The six bits of a letter, or 64.
uint32_t bits_of(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<uint32_t>(c - 'A');
  if (c >= 'a' && c <= 'z') return static_cast<uint32_t>(c - 'a') + 26;
  if (c >= '0' && c <= '9') return static_cast<uint32_t>(c - '0') + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return 64;
}

char low_byte(uint32_t value) { return static_cast<char>(static_cast<unsigned char>(value & 0xff)); }

}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t have = bytes.size() - i < 3 ? bytes.size() - i : 3;
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < have ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    text.push_back(kLetters[group >> 18]);
    text.push_back(kLetters[group >> 12 & 63]);
    text.push_back(have > 1 ? kLetters[group >> 6 & 63] : '=');
    text.push_back(have > 2 ? kLetters[group & 63] : '=');
  }
  return text;
}

std::optional<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (size_t i = 0; i < text.size(); i += 4) {
    const bool last = i + 4 == text.size();
    const size_t padding = !last || text[i + 3] != '=' ? 0U : text[i + 2] != '=' ? 1U : 2U;
    uint32_t group = 0;
    for (size_t k = 0; k < 4; ++k) {
      const uint32_t bits = k + padding >= 4 ? 0 : bits_of(text[i + k]);
      if (bits > 63) return std::nullopt;
      group = group << 6 | bits;
    }
    // The bits that padding cuts off must be zero, or two texts would mean the same bytes.
    if ((padding == 1 && (group & 0xff) != 0) || (padding == 2 && (group & 0xffff) != 0)) return std::nullopt;
    bytes.push_back(low_byte(group >> 16));
    if (padding < 2) bytes.push_back(low_byte(group >> 8));
    if (padding < 1) bytes.push_back(low_byte(group));
  }
  return bytes;
}

}  // namespace fq
