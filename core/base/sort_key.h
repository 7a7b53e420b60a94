// sort_key - the meaning of `--key`: typed text as bytes that sort by themselves.
//
// Numbers come first (by value, of any size), then times (RFC 3339 or @EPOCH, to the nanosecond), then all
// other text by its bytes. Comparing two encodings byte by byte gives that order, once what only says how a value
// was typed is left out: "1" and "1.0" are equal, and so are two spellings of one instant. Decoding gives back
// exactly the text that was typed.
//
//   number   0x10, sign (0 negative, 1 zero, 2 positive), exponent (2 bytes), digits (two a byte, 1 to 10,
//            0 ends them); all but the first two bytes inverted when negative; then, unless the plain form
//            was typed, the text as typed
//   time     0x20, seconds (8 bytes, sign bit inverted), nanoseconds (4 bytes), the text as typed
//   text     0x30, the text as typed
// The encoding is on disk: never change it, add a new first byte.
#pragma once

// System.
#include <optional>
#include <string>
#include <string_view>

namespace fq {

enum class SortKeyFault { none, empty, not_utf8, too_long };

struct SortKeyEncoding {
  SortKeyFault fault = SortKeyFault::none;
  std::string bytes;
};

/// Text and plain numbers may have up to 63 bytes; other spellings of numbers and times carry their
/// spelling along, so they are too long a little earlier.
SortKeyEncoding encode_sort_key(std::string_view typed);

/// Its beginning, by which it is compared: without the text as typed of a number or a time. All of what is no
/// encoding. core/redis/lua/keys/queues.lua has its twin.
std::string_view order_of_sort_key(std::string_view bytes);

/// The text as typed; "" for an empty key. None when `bytes` is no encoding.
std::optional<std::string> decode_sort_key(std::string_view bytes);

}  // namespace fq
