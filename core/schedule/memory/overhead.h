// overhead - the bytes that a message takes in the journal beside its payload, in one byte of its entry.
//
// Compaction weighs live bytes against the bytes on disk, so it has to know what each message takes: its
// tenant, tags and command, the report of its last failure, its records' headers. A few per cent too much
// does no harm, a few times too little would have it copy the same bytes for ever.
#pragma once

// System.
#include <algorithm>
#include <bit>
#include <cstdint>

namespace fq {

namespace overhead_detail {
// Sixteen steps an octave, from 64 bytes on.
inline constexpr uint32_t kStepBits = 4;
inline constexpr uint32_t kSteps = 1u << kStepBits;
inline constexpr uint32_t kFirstShift = 2;
}  // namespace overhead_detail

constexpr uint32_t overhead_bytes(uint8_t code) {
  using namespace overhead_detail;
  return (kSteps + code % kSteps) << (code / kSteps + kFirstShift);
}

/// The smallest that stands for at least so many; the largest where none does.
constexpr uint8_t overhead_code(uint64_t bytes) {
  using namespace overhead_detail;
  constexpr uint64_t kLeast = overhead_bytes(0), kMost = overhead_bytes(UINT8_MAX);
  // Rounded up by working on one byte less.
  const uint64_t below = std::clamp(bytes, kLeast + 1, kMost) - 1;
  if (bytes <= kLeast) return 0;
  const auto octave = static_cast<uint32_t>(std::bit_width(below)) - 1 - kStepBits;
  const uint32_t code = (octave - kFirstShift) * kSteps + static_cast<uint32_t>(below >> octave) - kSteps + 1;
  return static_cast<uint8_t>(code);
}

static_assert(overhead_code(0) == 0 && overhead_code(64) == 0 && overhead_code(65) == 1);
static_assert(overhead_code(124) == 15 && overhead_code(125) == 16 && overhead_bytes(16) == 128);
static_assert(overhead_bytes(overhead_code(100'000)) >= 100'000);
static_assert(overhead_code(UINT64_MAX) == UINT8_MAX);

}  // namespace fq
