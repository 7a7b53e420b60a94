// utf8 - reading UTF-8 strictly: shortest forms only, no surrogates, nothing above U+10FFFF.
//
// Everything that shows or checks foreign text goes through utf8_next, so that what one part takes for a
// character no other part takes for something else. Needs no locale.
#pragma once

// System.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fq {

struct Utf8Char {
  uint32_t code = 0;
  size_t bytes = 0;  // 0: no valid character starts here
};

/// The character at the start of `text`. Needs: text is not empty.
Utf8Char utf8_next(std::string_view text);

bool utf8_valid(std::string_view text);

/// Appends `code`. Needs: a Unicode scalar value.
void utf8_append(std::string& to, uint32_t code);

/// Control characters: C0, DEL and C1.
constexpr bool is_control(uint32_t code) { return code < 0x20 || (code >= 0x7f && code < 0xa0); }

}  // namespace fq
