// slots - into which of a cluster's 16,384 slots a key falls.
#pragma once

// System.
#include <cstdint>
#include <string_view>

namespace fq {

inline constexpr uint32_t kSlots = 16384;

/// Of what stands between braces where something does.
uint32_t slot_of(std::string_view key);

/// The CRC16 of XMODEM by which slots are given: of a text in pieces, 0 before the first.
uint32_t slot_sum(uint32_t sum, std::string_view piece);

}  // namespace fq
