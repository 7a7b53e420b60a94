#include "core/local/read/receipt.h"

// System.
#include <algorithm>
#include <charconv>
// fq, below us.
#include "core/base/text/decimal.h"

namespace fq {

namespace {

constexpr size_t kMarkBytesMax = 64;

bool is_mark(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  const bool fits = text.size() >= kMarkBytes && text.size() <= kMarkBytesMax;
  return fits && std::all_of(text.begin(), text.end(), plain);
}

}  // namespace

std::string_view write_receipt(std::array<char, kReceiptBytes>& text, uint64_t id, uint64_t serial,
                               const QueueMark& mark) {
  char* const last = text.data() + text.size();
  char* end = std::to_chars(text.data(), last, id).ptr;
  *end++ = '.';
  end = std::to_chars(end, last, serial).ptr;
  *end++ = '.';
  end = std::copy(mark.begin(), mark.end(), end);
  return {text.data(), static_cast<size_t>(end - text.data())};
}

std::string receipt_text(uint64_t id, uint64_t serial, const QueueMark& mark) {
  std::array<char, kReceiptBytes> text;
  return std::string(write_receipt(text, id, serial, mark));
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
