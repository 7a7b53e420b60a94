#include "core/base/text/size.h"

// System.
#include <cstdio>
// fq, this room.
#include "core/base/text/decimal.h"

namespace fq {

namespace {

struct SizeUnit {
  std::string_view name;
  uint64_t bytes;
};

__extension__ typedef unsigned __int128 Wide;  // products of two 64-bit numbers

constexpr uint64_t kKilo = 1000;
constexpr SizeUnit kSizeUnits[] = {
    {"TiB", uint64_t{1} << 40},
    {"GiB", uint64_t{1} << 30},
    {"MiB", uint64_t{1} << 20},
    {"KiB", 1 << 10},
    {"TB", kKilo* kKilo* kKilo* kKilo},
    {"GB", kKilo* kKilo* kKilo},
    {"MB", kKilo* kKilo},
    {"kB", kKilo},
    {"KB", kKilo},
    {"B", 1},
};
constexpr size_t kBinaryUnits = 4;

}  // namespace

std::optional<uint64_t> parse_size(std::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && (is_digit(text[digits]) || text[digits] == '.')) ++digits;
  const std::string_view number = text.substr(0, digits);
  const SizeUnit* unit = nullptr;
  for (const SizeUnit& each : kSizeUnits) {
    if (text.substr(digits) == each.name) unit = &each;
  }
  if (unit == nullptr || number.empty() || !is_digit(number.front()) || !is_digit(number.back()))
    return std::nullopt;
  Wide value = 0;
  Wide scale = 1;
  bool point = false;
  for (const char c : number) {
    if (c == '.') {
      if (point) return std::nullopt;
      point = true;
      continue;
    }
    value = value * 10 + static_cast<unsigned>(c - '0');
    if (point) scale *= 10;
    if (value > UINT64_MAX || scale > UINT64_MAX) return std::nullopt;
  }
  value *= unit->bytes;
  if (value % scale != 0 || value / scale > UINT64_MAX) return std::nullopt;
  return static_cast<uint64_t>(value / scale);
}

std::string format_size(uint64_t bytes) {
  for (size_t i = 0; i < kBinaryUnits; ++i) {
    const SizeUnit& unit = kSizeUnits[i];
    if (bytes < unit.bytes) continue;
    if (bytes % unit.bytes == 0) return std::to_string(bytes / unit.bytes).append(unit.name);
    char text[32];
    std::snprintf(text, sizeof text, "%.1f%s", static_cast<double>(bytes) / static_cast<double>(unit.bytes),
                  std::string(unit.name).c_str());
    return text;
  }
  return std::to_string(bytes).append("B");
}

}  // namespace fq
