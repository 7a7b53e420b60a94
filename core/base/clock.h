// clock - the two times that fq knows, handed in so that tests can set them.
//
// boot_ms counts from boot, suspend included, and never steps: every timer inside a boot is in it.
// wall_ms is what people and the journal read.
#pragma once

// System.
#include <algorithm>
#include <cstdint>

namespace fq {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t boot_ms() = 0;
  virtual int64_t wall_ms() = 0;
};

/// The kernel's clocks. One object serves the whole process.
Clock& system_clock();

inline constexpr int64_t kNever = INT64_MAX;  // a due time that does not come
// As good as never, as a time or as a span: the sum of two is a number still, and so is each as a double.
inline constexpr int64_t kLatestMs = int64_t{1} << 61;
/// So long after that time; as good as never where that does not fit.
constexpr int64_t later(int64_t at_ms, int64_t span_ms) {
  return std::min(std::min(at_ms, kLatestMs) + std::min(span_ms, kLatestMs), kLatestMs);
}

// Chosen: no change of a zone, and no hardware clock that was read in the wrong one, sets the wall clock back
// by more. Where it says a time so long before one that was seen, that one was wrong.
inline constexpr int64_t kClockWrongMs = int64_t{24} * 3600 * 1000;

}  // namespace fq
