#include "core/engine/receipt.h"

// System.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
// fq, below us.
#include "core/base/assert.h"
#include "core/base/text/decimal.h"

namespace fq {

namespace {

constexpr size_t kMarkBytesMin = 4;
constexpr size_t kMarkBytesMax = 64;

constexpr size_t kDigitsMax = 20;  // of 64 bits

constexpr auto kMarkCharacter = [] {
  std::array<bool, 256> plain{};
  for (const auto& [first, last] : {std::pair('0', '9'), std::pair('a', 'z'), std::pair('A', 'Z')})
    for (int c = first; c <= last; ++c) plain[static_cast<size_t>(c)] = true;
  return plain;
}();

bool is_mark(std::string_view text) {
  const auto plain = [](char c) { return kMarkCharacter[static_cast<unsigned char>(c)]; };
  const bool fits = text.size() >= kMarkBytesMin && text.size() <= kMarkBytesMax;
  return fits && std::all_of(text.begin(), text.end(), plain);
}

/// Its digits up to `end`; returns where they begin.
char* put_digits(char* end, uint64_t number) {
  do {
    *--end = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  return end;
}

}  // namespace

void write_receipt(std::string& text, uint64_t id, uint64_t serial, std::string_view mark) {
  FQ_ASSERT(mark.size() <= kMarkBytesMax);
  // From its end on: put into the text at once, and each delivery has one.
  std::array<char, 2 * kDigitsMax + 2 + kMarkBytesMax> buffer;
  char* const end = buffer.data() + buffer.size();
  char* at = end - mark.size();
  if (!mark.empty()) std::memcpy(at, mark.data(), mark.size());
  *--at = '.';
  at = put_digits(at, serial);
  *--at = '.';
  at = put_digits(at, id);
  text.assign(at, static_cast<size_t>(end - at));
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
