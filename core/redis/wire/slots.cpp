#include "core/redis/wire/slots.h"

// System.
#include <array>

namespace fq {

namespace {

constexpr uint32_t kPolynomial = 0x1021;

constexpr std::array<uint16_t, 256> make_table() {
  std::array<uint16_t, 256> table{};
  for (uint32_t byte = 0; byte < table.size(); ++byte) {
    uint32_t sum = byte << 8;
    for (int bit = 0; bit < 8; ++bit) sum = (sum & 0x8000) != 0 ? sum << 1 ^ kPolynomial : sum << 1;
    table.at(byte) = static_cast<uint16_t>(sum);
  }
  return table;
}

constexpr std::array<uint16_t, 256> kTable = make_table();

}  // namespace

uint32_t slot_sum(uint32_t sum, std::string_view piece) {
  for (const char each : piece) {
    const uint32_t byte = (sum >> 8 ^ static_cast<unsigned char>(each)) & 0xff;
    sum = (sum << 8 ^ kTable.at(byte)) & 0xffff;
  }
  return sum;
}

uint32_t slot_of(std::string_view key) {
  const size_t open = key.find('{');
  const size_t close = open == std::string_view::npos ? open : key.find('}', open + 1);
  if (close != std::string_view::npos && close > open + 1) key = key.substr(open + 1, close - open - 1);
  return slot_sum(0, key) % kSlots;
}

}  // namespace fq
