#include "core/base/sort_key.h"

// System.
#include <cstdint>
// fq, this room.
#include "core/base/limits.h"
#include "core/base/text/decimal.h"
#include "core/base/text/utf8.h"
#include "core/base/text/wall_time.h"

namespace fq {

namespace {

constexpr char kNumber = 0x10;
constexpr char kTime = 0x20;
constexpr char kText = 0x30;
constexpr size_t kTimeBytes = 13;  // before the text as typed
enum Sign : char { kNegative = 0, kZero = 1, kPositive = 2 };

constexpr int64_t kExponentBias = 0x8000;
constexpr int64_t kExponentTypedMax = 9999;  // so that with 64 typed digits it fits 16 bits

char as_char(uint64_t byte) { return static_cast<char>(static_cast<unsigned char>(byte & 0xff)); }
uint32_t as_byte(char c) { return static_cast<unsigned char>(c); }

void put_big_endian(std::string& to, uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) to.push_back(as_char(value >> (8 * i)));
}

/// A number as 0.DIGITS * 10^exponent, without zeros at either end of the digits; zero has no digits.
struct Scientific {
  bool negative = false;
  std::string digits;
  int64_t exponent = 0;
};

std::string_view take_digits(std::string_view& text) {
  size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  const std::string_view digits = text.substr(0, n);
  text.remove_prefix(n);
  return digits;
}

bool take_exponent(std::string_view& text, int64_t& exponent) {
  exponent = 0;
  if (text.empty()) return true;
  if (text[0] != 'e' && text[0] != 'E') return false;
  text.remove_prefix(1);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const std::string_view digits = take_digits(text);
  if (digits.empty() || !text.empty()) return false;
  for (const char c : digits) {
    exponent = exponent * 10 + (c - '0');
    if (exponent > kExponentTypedMax) return false;
  }
  if (negative) exponent = -exponent;
  return true;
}

std::optional<Scientific> parse_number(std::string_view text) {
  Scientific number;
  number.negative = text.starts_with('-');
  if (number.negative || text.starts_with('+')) text.remove_prefix(1);
  const std::string_view whole = take_digits(text);
  std::string_view fraction;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = take_digits(text);
    if (fraction.empty()) return std::nullopt;
  }
  if (whole.empty() && fraction.empty()) return std::nullopt;
  if (!take_exponent(text, number.exponent)) return std::nullopt;
  number.exponent += static_cast<int64_t>(whole.size());
  number.digits.append(whole).append(fraction);
  const size_t first = number.digits.find_first_not_of('0');
  if (first == std::string::npos) return Scientific{};
  number.exponent -= static_cast<int64_t>(first);
  number.digits = number.digits.substr(first, number.digits.find_last_not_of('0') + 1 - first);
  return number;
}

/// The plain form: "-12.5", "300", "0.001". None when that would be long.
std::optional<std::string> plain_form(const Scientific& number) {
  if (number.digits.empty()) return "0";
  const auto count = static_cast<int64_t>(number.digits.size());
  const int64_t point = number.exponent;
  if (point > 64 || point < -64) return std::nullopt;
  std::string text = number.negative ? "-" : "";
  if (point <= 0) {
    text.append("0.").append(static_cast<size_t>(-point), '0').append(number.digits);
  } else if (point >= count) {
    text.append(number.digits).append(static_cast<size_t>(point - count), '0');
  } else {
    text.append(number.digits, 0, static_cast<size_t>(point)).append(".");
    text.append(number.digits, static_cast<size_t>(point));
  }
  return text;
}

std::string encode_number(const Scientific& number, std::string_view typed) {
  std::string bytes{kNumber, number.digits.empty() ? kZero : number.negative ? kNegative : kPositive};
  if (!number.digits.empty()) {
    put_big_endian(bytes, static_cast<uint64_t>(number.exponent + kExponentBias), 2);
    // A nibble is digit + 1; a 0 nibble ends the digits and sorts before every longer number.
    const size_t nibbles = number.digits.size() + 1;
    for (size_t i = 0; i < nibbles; i += 2) {
      const auto nibble = [&](size_t k) {
        return k < number.digits.size() ? static_cast<uint32_t>(number.digits[k] - '0') + 1 : 0U;
      };
      bytes.push_back(as_char(nibble(i) << 4 | nibble(i + 1)));
    }
    if (number.negative) {
      for (size_t i = 2; i < bytes.size(); ++i) bytes[i] = as_char(~as_byte(bytes[i]));
    }
  }
  if (plain_form(number) != typed) bytes.append(typed);
  return bytes;
}

/// The digits, and how many bytes they took; none when they do not end.
std::optional<std::string> decode_digits(std::string_view bytes, uint32_t flip, size_t& used) {
  std::string digits;
  for (used = 0; used < bytes.size();) {
    const uint32_t byte = as_byte(bytes[used++]) ^ flip;
    for (const uint32_t nibble : {byte >> 4, byte & 15}) {
      if (nibble == 0) return digits;
      if (nibble > 10) return std::nullopt;
      digits.push_back(static_cast<char>('0' + nibble - 1));
    }
  }
  return std::nullopt;
}

std::optional<std::string> decode_number(std::string_view bytes) {
  if (bytes.size() < 2) return std::nullopt;
  Scientific number;
  size_t end = 2;
  if (bytes[1] != kZero) {
    number.negative = bytes[1] == kNegative;
    const uint32_t flip = number.negative ? 0xff : 0;
    if (bytes.size() < 4) return std::nullopt;
    number.exponent =
        static_cast<int64_t>((as_byte(bytes[2]) ^ flip) << 8 | (as_byte(bytes[3]) ^ flip)) - kExponentBias;
    size_t used = 0;
    std::optional<std::string> digits = decode_digits(bytes.substr(4), flip, used);
    if (!digits) return std::nullopt;
    number.digits = std::move(*digits);
    end = 4 + used;
  }
  if (end < bytes.size()) return std::string(bytes.substr(end));
  return plain_form(number);
}

}  // namespace

SortKeyEncoding encode_sort_key(std::string_view typed) {
  if (typed.empty()) return {SortKeyFault::empty, ""};
  if (typed.size() > kSortKeyBytesMax) return {SortKeyFault::too_long, ""};
  if (!utf8_valid(typed)) return {SortKeyFault::not_utf8, ""};
  SortKeyEncoding key;
  if (const std::optional<Scientific> number = parse_number(typed)) {
    key.bytes = encode_number(*number, typed);
  } else if (const std::optional<Instant> at = parse_instant(typed)) {
    key.bytes.push_back(kTime);
    put_big_endian(key.bytes, static_cast<uint64_t>(at->seconds) ^ (uint64_t{1} << 63), 8);
    put_big_endian(key.bytes, static_cast<uint64_t>(at->nanoseconds), 4);
    key.bytes.append(typed);
  } else {
    key.bytes.push_back(kText);
    key.bytes.append(typed);
  }
  if (key.bytes.size() > kSortKeyBytesMax) return {SortKeyFault::too_long, ""};
  return key;
}

std::string_view order_of_sort_key(std::string_view bytes) {
  if (bytes.size() < 2) return bytes;
  if (bytes[0] == kTime) return bytes.substr(0, kTimeBytes);
  if (bytes[0] != kNumber) return bytes;
  if (bytes[1] == kZero) return bytes.substr(0, 2);
  const uint32_t flip = bytes[1] == kNegative ? 0xff : 0;
  for (size_t at = 4; at < bytes.size(); ++at) {
    const uint32_t byte = as_byte(bytes[at]) ^ flip;
    if (byte >> 4 == 0 || (byte & 15) == 0) return bytes.substr(0, at + 1);
  }
  return bytes;
}

std::optional<std::string> decode_sort_key(std::string_view bytes) {
  if (bytes.empty()) return "";
  switch (bytes[0]) {
    case kNumber:
      return decode_number(bytes);
    case kTime:
      if (bytes.size() < kTimeBytes) return std::nullopt;
      return std::string(bytes.substr(kTimeBytes));
    case kText:
      return std::string(bytes.substr(1));
    default:
      return std::nullopt;
  }
}

}  // namespace fq
