#include "core/base/text/escape.h"

// System.
#include <algorithm>
#include <cstdio>
// fq, this room.
#include "core/base/text/utf8.h"

namespace fq {

namespace {

void append_hex_byte(std::string& to, char byte) {
  char text[8];
  std::snprintf(text, sizeof text, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(byte)));
  to += text;
}

void append_code(std::string& to, uint32_t code) {
  char text[16];
  std::snprintf(text, sizeof text, "\\u{%x}", code);
  to += text;
}

/// Three digits, so that no digit behind it is taken for one of them.
void append_octal(std::string& to, char byte) {
  char text[8];
  std::snprintf(text, sizeof text, "%03o", static_cast<unsigned>(static_cast<unsigned char>(byte)));
  to += text;
}

/// Characters that change how their neighbours are shown, or are not shown at all.
bool deceives(uint32_t code) {
  return code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0x200b || code == 0xfeff ||
         (code >= 0xe0000 && code <= 0xe007f);
}

/// Whether it may not be seen as it is.
bool is_hidden(const Utf8Char& character, bool ascii_only) {
  return character.bytes == 0 || is_control(character.code) || deceives(character.code) ||
         (ascii_only && character.code >= 0x80);
}

void append_escaped(std::string& to, uint32_t code) {
  if (code == '\n') {
    to += "\\n";
  } else if (code == '\t') {
    to += "\\t";
  } else if (code == '\r') {
    to += "\\r";
  } else if (code < 0x80) {
    append_hex_byte(to, static_cast<char>(code));
  } else {
    append_code(to, code);
  }
}

}  // namespace

std::string escape_terminal(std::string_view text, EscapeOptions options) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const Utf8Char next = utf8_next(text);
    const size_t bytes = next.bytes == 0 ? 1 : next.bytes;
    const std::string_view as_is = text.substr(0, bytes);
    if (next.bytes == 0) {
      append_hex_byte(shown, text[0]);
    } else if (options.keep_newlines && (next.code == '\n' || next.code == '\t')) {
      shown += as_is;
    } else if (next.code == '\\') {
      shown += options.keep_backslash ? "\\" : "\\\\";
    } else if (is_hidden(next, options.ascii_only)) {
      append_escaped(shown, next.code);
    } else {
      shown += as_is;
    }
    text.remove_prefix(bytes);
  }
  return shown;
}

std::string in_quotes(std::string_view text) {
  constexpr size_t kShownBytesMax = 80;
  if (text.size() <= kShownBytesMax) return "'" + std::string(text) + "'";
  size_t bytes = 0;
  while (bytes < kShownBytesMax) bytes += std::max<size_t>(utf8_next(text.substr(bytes)).bytes, 1);
  return "'" + std::string(text.substr(0, bytes)) + "...'";
}

std::string escape_field(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const Utf8Char next = utf8_next(text);
    const size_t bytes = next.bytes == 0 ? 1 : next.bytes;
    if (next.code == '\\' && next.bytes == 1) {
      shown += "\\\\";
    } else if (next.code == '\t' && next.bytes == 1) {
      shown += "\\t";
    } else if (next.code == '\n' && next.bytes == 1) {
      shown += "\\n";
    } else if (next.bytes == 0 || is_control(next.code)) {
      for (size_t i = 0; i < bytes; ++i) {
        shown += "\\0";
        append_octal(shown, text[i]);
      }
    } else {
      shown += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return shown;
}

std::string quote_shell(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted.push_back(c);
    }
  }
  quoted.push_back('\'');
  return quoted;
}

std::string shell_word(std::string_view text, bool ascii_only) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789%+,-./:=@_";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) return std::string(text);
  bool escaped = false;
  std::string word = "$'";
  for (std::string_view rest = text; !rest.empty();) {
    const Utf8Char next = utf8_next(rest);
    const size_t bytes = std::max<size_t>(next.bytes, 1);
    if (!is_hidden(next, ascii_only)) {
      if (next.code == '\\' || next.code == '\'') word.push_back('\\');
      word += rest.substr(0, bytes);
    } else {
      escaped = true;
      if (next.bytes == 1 && (next.code == '\n' || next.code == '\t' || next.code == '\r')) {
        append_escaped(word, next.code);
      } else {
        for (const char byte : rest.substr(0, bytes)) {
          word.push_back('\\');
          append_octal(word, byte);
        }
      }
    }
    rest.remove_prefix(bytes);
  }
  word.push_back('\'');
  return escaped ? word : quote_shell(text);
}

}  // namespace fq
