#include "core/engine/receipt.h"

// System.
#include <algorithm>
#include <array>
#include <charconv>
// fq, below us.
#include "core/base/text/decimal.h"

namespace fq {

namespace {

constexpr size_t kMarkBytesMin = 4;
constexpr size_t kMarkBytesMax = 64;

bool is_mark(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  const bool fits = text.size() >= kMarkBytesMin && text.size() <= kMarkBytesMax;
  return fits && std::all_of(text.begin(), text.end(), plain);
}

}  // namespace

void write_receipt(std::string& text, uint64_t id, uint64_t serial, std::string_view mark) {
  std::array<char, 20> digits;
  const auto add = [&](uint64_t number) {
    text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
  };
  text.clear();
  add(id);
  text += '.';
  add(serial);
  text += '.';
  text.append(mark);
}

std::string receipt_text(uint64_t id, uint64_t serial, std::string_view mark) {
  std::string text;
  write_receipt(text, id, serial, mark);
  return text;
}

std::optional<ReceiptParts> parse_receipt(std::string_view text) {
  const std::optional<uint64_t> id = take_decimal(text);
  if (!id || text.empty() || text[0] != '.') return std::nullopt;
  text.remove_prefix(1);
  const std::optional<uint64_t> serial = take_decimal(text);
  if (!serial) return std::nullopt;
  if (text.empty()) return ReceiptParts{*id, *serial, {}};
  if (text[0] != '.' || !is_mark(text.substr(1))) return std::nullopt;
  return ReceiptParts{*id, *serial, text.substr(1)};
}

}  // namespace fq
