// short_time - a span of time in 16 bits: never shorter than it was, and longer by one part in 1,024 at most.
//
// Eleven bits of a number, and five that tell how far it is shifted: below 2,048 ms it is exact, and the
// longest is 139 years; what is longer counts as that. recent_times.lua makes the same.
#pragma once

// System.
#include <bit>
#include <cstdint>

namespace fq {

enum class ShortTime : uint16_t {};

inline constexpr uint64_t kShortTimeMost = uint64_t{2047} << 31;

constexpr ShortTime short_time_of(uint64_t ms) {
  if (ms >= kShortTimeMost) return ShortTime{UINT16_MAX};
  const auto width = static_cast<uint32_t>(std::bit_width(ms));
  uint32_t shift = width > 11 ? width - 11 : 0;
  uint64_t number = (ms + (uint64_t{1} << shift) - 1) >> shift;
  if (number == 2048) number = 1024, shift += 1;
  return static_cast<ShortTime>(number << 5 | shift);
}

constexpr uint64_t ms_of(ShortTime time) {
  const auto bits = static_cast<uint64_t>(time);
  return (bits >> 5) << (bits & 31);
}

/// The first look tells of most times, which are short: each note of a time comes here.
constexpr bool is_longer(uint64_t ms, ShortTime than) {
  return ms > static_cast<uint64_t>(than) >> 5 && ms > ms_of(than);
}

}  // namespace fq
