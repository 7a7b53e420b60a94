// sleep - the sleep of an operation that waits: on words, and never without a cap.
#pragma once

// System.
#include <algorithm>
// fq, below us.
#include "core/engine/signals_allowed.h"
#include "core/shm/futex.h"

namespace fq {

// Never longer than this without a look, since a waker may have died before it woke us.
inline constexpr int64_t kWaitCapMs = 1'000;
inline constexpr int64_t kWaitCapWithoutWaitvMs = 50;
inline constexpr int64_t kWaitMaxMs = kLatestMs;  // as good as for ever, and no sum with it overflows

/// A hint for wakers that a process sleeps; a death leaves it one too high, which costs them a system call.
class WaiterCounted {
 public:
  /// nullptr: does not count.
  explicit WaiterCounted(std::atomic<uint32_t>* count) : count_(count) {
    if (count_ != nullptr) count_->fetch_add(1, std::memory_order_seq_cst);
  }
  ~WaiterCounted() {
    if (count_ != nullptr) count_->fetch_sub(1, std::memory_order_seq_cst);
  }
  WaiterCounted(const WaiterCounted&) = delete;
  WaiterCounted& operator=(const WaiterCounted&) = delete;

 private:
  std::atomic<uint32_t>* const count_;
};

/// Sleeps on all of the words, or where the kernel cannot do that, for a moment on `event` alone.
inline void sleep_on(std::span<const WatchedWord> words, EventWord& event, uint32_t seen, int64_t wait_ms) {
  if (!futex_wait_any(words, wait_ms)) futex_wait(event, seen, std::min(wait_ms, kWaitCapWithoutWaitvMs));
}

}  // namespace fq
