#include "core/base/text/utf8.h"

namespace fq {

namespace {

uint32_t byte_at(std::string_view text, size_t i) { return static_cast<unsigned char>(text[i]); }

}  // namespace

Utf8Char utf8_next(std::string_view text) {
  const uint32_t first = byte_at(text, 0);
  if (first < 0x80) return {first, 1};
  size_t bytes;
  uint32_t code;
  uint32_t least;
  if (first >= 0xc2 && first < 0xe0) {
    bytes = 2, code = first & 0x1f, least = 0x80;
  } else if (first >= 0xe0 && first < 0xf0) {
    bytes = 3, code = first & 0x0f, least = 0x800;
  } else if (first >= 0xf0 && first < 0xf5) {
    bytes = 4, code = first & 0x07, least = 0x10000;
  } else {
    return {};
  }
  if (text.size() < bytes) return {};
  for (size_t i = 1; i < bytes; ++i) {
    const uint32_t next = byte_at(text, i);
    if ((next & 0xc0) != 0x80) return {};
    code = code << 6 | (next & 0x3f);
  }
  if (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {code, bytes};
}

bool utf8_valid(std::string_view text) {
  while (!text.empty()) {
    const size_t bytes = utf8_next(text).bytes;
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

void utf8_append(std::string& to, uint32_t code) {
  const auto put = [&to](uint32_t byte) {
    to.push_back(static_cast<char>(static_cast<unsigned char>(byte)));
  };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

}  // namespace fq
