#include "cli/terminal/shown.h"

// System.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
// fq, below us.
#include "core/base/text/escape.h"
#include "core/base/text/utf8.h"

namespace fq::cli {

namespace {

constexpr std::string_view kDots = "...";

struct Range {
  uint32_t first;
  uint32_t last;
};

// Of Unicode's East Asian Width what is wide, emoji included.
constexpr Range kWide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x23e9, 0x23ec},   {0x23f0, 0x23f0},   {0x23f3, 0x23f3},
    {0x25fd, 0x25fe},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267f, 0x267f},   {0x2693, 0x2693},
    {0x26a1, 0x26a1},   {0x26aa, 0x26ab},   {0x26bd, 0x26be},   {0x26c4, 0x26c5},   {0x26ce, 0x26ce},
    {0x26d4, 0x26d4},   {0x26ea, 0x26ea},   {0x26f2, 0x26f3},   {0x26f5, 0x26f5},   {0x26fa, 0x26fa},
    {0x26fd, 0x26fd},   {0x2705, 0x2705},   {0x270a, 0x270b},   {0x2728, 0x2728},   {0x274c, 0x274c},
    {0x274e, 0x274e},   {0x2753, 0x2755},   {0x2757, 0x2757},   {0x2795, 0x2797},   {0x27b0, 0x27b0},
    {0x27bf, 0x27bf},   {0x2b1b, 0x2b1c},   {0x2b50, 0x2b50},   {0x2b55, 0x2b55},   {0x2e80, 0x303e},
    {0x3041, 0xa4cf},   {0xa960, 0xa97c},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe10, 0xfe19},
    {0xfe30, 0xfe6b},   {0xff01, 0xff60},   {0xffe0, 0xffe6},   {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf},
    {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f200, 0x1f320}, {0x1f32d, 0x1faff}, {0x20000, 0x3fffd},
};

// What joins the character before it: accents, vowel signs, joiners, variation selectors.
constexpr Range kJoining[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f},
    {0x0900, 0x0902}, {0x093c, 0x093c}, {0x0941, 0x0948}, {0x094d, 0x094d}, {0x0e31, 0x0e31},
    {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200c, 0x200d},
    {0x20d0, 0x20ff}, {0x3099, 0x309a}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef},
};

bool among(std::span<const Range> ranges, uint32_t code) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), code,
                                      [](uint32_t wanted, const Range& each) { return wanted < each.first; });
  return after != ranges.begin() && code <= (after - 1)->last;
}

size_t columns_of_character(const Utf8Char& character) {
  if (character.bytes == 0 || character.code < 0x300) return 1;
  if (among(kJoining, character.code)) return 0;
  return among(kWide, character.code) ? 2 : 1;
}

/// Bytes of the character or escape that it begins with, and of what joins that.
size_t bytes_of_unit(std::string_view text) {
  size_t bytes = std::max<size_t>(utf8_next(text).bytes, 1);
  if (text.size() > 1 && text[0] == '\\') {
    bytes = text[1] == 'x' ? 4 : text.substr(1).starts_with("u{") ? text.find('}') + 1 : 2;
  }
  bytes = std::min(bytes == 0 ? text.size() : bytes, text.size());
  while (bytes < text.size()) {
    const Utf8Char next = utf8_next(text.substr(bytes));
    if (next.bytes == 0 || columns_of_character(next) != 0) break;
    bytes += next.bytes;
  }
  return bytes;
}

/// Without what lies between a head and a tail of so many columns, dots included; a tail of 0 has none.
std::string cut_between(std::string_view shown, size_t columns, size_t tail_columns) {
  if (columns_of(shown) <= columns) return std::string(shown);
  const std::string_view dots = columns > kDots.size() + 1 ? kDots : "";
  const size_t head_columns = columns - dots.size() - tail_columns;
  size_t head = 0, tail = 0;
  for (size_t used = 0; head < shown.size();) {
    const std::string_view unit = shown.substr(head, bytes_of_unit(shown.substr(head)));
    if ((used += columns_of(unit)) > head_columns) break;
    head += unit.size();
  }
  // From the first unit on behind which there is not more than fits.
  tail = head;
  for (size_t left = columns_of(shown.substr(head)); left > tail_columns;) {
    const std::string_view unit = shown.substr(tail, bytes_of_unit(shown.substr(tail)));
    left -= columns_of(unit);
    tail += unit.size();
  }
  return std::string(shown.substr(0, head)).append(dots).append(shown.substr(tail));
}

/// By the character, since a payload may be long: each as `see` tells it.
template <class See>
std::string cut(std::string_view text, size_t columns, const See& see) {
  // Characters are limited too: accents without end take no column.
  const size_t characters_max = 4 * columns;
  std::string begin;
  size_t used = 0;
  for (size_t count = 0; !text.empty(); ++count) {
    const size_t bytes = std::max<size_t>(utf8_next(text).bytes, 1);
    const std::string next = see(text.substr(0, bytes));
    used += columns_of(next);
    if (used > columns || count == characters_max) return begin + "...";
    begin += next;
    text.remove_prefix(bytes);
  }
  return begin;
}

}  // namespace

bool locale_shows_utf8() {
  static const bool utf8 = [] {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
      const char* value = std::getenv(name);
      if (value == nullptr || *value == '\0') continue;
      std::string lower;
      for (const char* c = value; *c != '\0'; ++c)
        lower.push_back(*c >= 'A' && *c <= 'Z' ? static_cast<char>(*c + 32) : *c);
      return lower.find("utf-8") != std::string::npos || lower.find("utf8") != std::string::npos;
    }
    return false;
  }();
  return utf8;
}

std::string shown(std::string_view text) {
  return escape_terminal(text, {!locale_shows_utf8(), false, false});
}

std::string shown_short(std::string_view text, size_t columns) { return cut(text, columns, shown); }

std::string cut_short(std::string_view text, size_t columns) {
  return cut(text, columns, [](std::string_view character) { return std::string(character); });
}

size_t columns_of(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) {
    const Utf8Char next = utf8_next(text);
    columns += columns_of_character(next);
    text.remove_prefix(std::max<size_t>(next.bytes, 1));
  }
  return columns;
}

std::string cut_middle(std::string_view shown, size_t columns) {
  const size_t room = columns > kDots.size() + 1 ? columns - kDots.size() : columns;
  return cut_between(shown, columns, room - room / 2);
}

std::string cut_end(std::string_view shown, size_t columns) { return cut_between(shown, columns, 0); }

}  // namespace fq::cli
