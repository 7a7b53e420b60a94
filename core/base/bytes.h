// bytes - views of bytes, and little-endian numbers in them.
//
// Everything that goes to disk is written field by field through here, never as a copied struct.
#pragma once

// System.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace fq {

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

inline Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "put_number and get_number would have to swap");

template <class T>
void put_number(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}
template <class T>
T get_number(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace fq
