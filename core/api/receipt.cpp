#include "core/api/receipt.h"

// System.
#include <algorithm>
#include <array>
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

constexpr auto kPairs = [] {  // "00" to "99"
  std::array<std::array<char, 2>, 100> pairs{};
  for (size_t i = 0; i < pairs.size(); ++i)
    pairs[i] = {static_cast<char>('0' + i / 10), static_cast<char>('0' + i % 10)};
  return pairs;
}();

/// Its digits up to `end`; returns where they begin.
char* put_digits(char* end, uint64_t number) {
  for (; number >= kPairs.size(); number /= kPairs.size()) {
    const std::array<char, 2>& pair = kPairs[number % kPairs.size()];
    *--end = pair[1];
    *--end = pair[0];
  }
  const std::array<char, 2>& first = kPairs[number];
  *--end = first[1];
  if (number >= 10) *--end = first[0];
  return end;
}

/// Written from its end on, and put into a text at once: each delivery has one.
class ReceiptBytes {
 public:
  ReceiptBytes(uint64_t id, uint64_t serial, std::string_view mark) {
    FQ_ASSERT(mark.size() <= kMarkBytesMax);
    char* at = bytes_.data() + bytes_.size() - mark.size();
    mark.copy(at, mark.size());
    *--at = '.';
    at = put_digits(at, serial);
    *--at = '.';
    at = put_digits(at, id);
    bytes_used_ = static_cast<size_t>(bytes_.data() + bytes_.size() - at);
  }
  std::string_view view() const { return {bytes_.data() + bytes_.size() - bytes_used_, bytes_used_}; }

 private:
  std::array<char, 2 * kDigitsMax + 2 + kMarkBytesMax> bytes_;
  size_t bytes_used_ = 0;
};

}  // namespace

void write_receipt(std::string& text, uint64_t id, uint64_t serial, std::string_view mark) {
  text.assign(ReceiptBytes(id, serial, mark).view());
}

std::string receipt_text(uint64_t id, uint64_t serial, std::string_view mark) {
  return std::string(ReceiptBytes(id, serial, mark).view());
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
