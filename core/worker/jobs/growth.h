// growth - the number of jobs that may run at once, between two bounds: more while there is a backlog, fewer
// after a time without work.
#pragma once

// System.
#include <algorithm>
#include <cstdint>
// fq, below us.
#include "core/base/clock.h"

namespace fq::worker {

class Growth {
 public:
  static constexpr int64_t kIdleMs = 10'000;  // arbitrary: long enough not to follow every pause

  Growth(uint32_t least, uint32_t most) : least_(std::max(least, 1U)), most_(most), now_(least_) {}

  uint32_t slots() const { return now_; }
  /// All slots are busy and there is more to do. True: one more slot.
  bool on_backlog(int64_t now_ms) {
    busy_ms_ = now_ms;
    if (now_ >= most_) return false;
    ++now_;
    return true;
  }
  void on_busy(int64_t now_ms) { busy_ms_ = now_ms; }
  /// A slot has nothing to do. True: it is given up.
  bool on_idle(int64_t now_ms) {
    if (now_ <= least_ || now_ms - busy_ms_ < kIdleMs) return false;
    busy_ms_ = now_ms;  // one at a time
    --now_;
    return true;
  }
  /// When on_idle() may say yes; kNever: not at all.
  int64_t next_ms() const { return now_ <= least_ ? kNever : busy_ms_ + kIdleMs; }

 private:
  uint32_t least_;
  uint32_t most_;
  uint32_t now_;
  int64_t busy_ms_ = 0;
};

}  // namespace fq::worker
