#include "core/shm/futex.h"

// System.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <ctime>
// fq, this room.
#include "core/shm/deadline.h"

namespace fq {

namespace {

constexpr long kFutexWaitv = 449;  // __NR_futex_waitv, newer than Debian 12's headers on some machines

// struct futex_waitv of the kernel.
struct KernelWaiter {
  uint64_t value;
  uint64_t address;
  uint32_t flags;
  uint32_t reserved;
};
constexpr uint32_t kWord32Bits = 2;  // FUTEX_32, shared

long call(const void* word, int operation, uint32_t value, const timespec* timeout) {
  return ::syscall(SYS_futex, word, operation, value, timeout, nullptr, 0);
}

}  // namespace

void futex_wait(EventWord& word, uint32_t seen, int64_t timeout_ms) {
  const timespec timeout{timeout_ms / 1000, (timeout_ms % 1000) * 1'000'000};
  call(&word, FUTEX_WAIT, seen, &timeout);
}

void futex_wake_all(const void* word) { call(word, FUTEX_WAKE, kEverybody, nullptr); }

void futex_wake_all(EventWord& word) { futex_wake(word, kEverybody); }

void futex_wake(EventWord& word, uint32_t sleepers) { call(&word, FUTEX_WAKE, sleepers, nullptr); }

void announce(EventWord& word) {
  word.fetch_add(1, std::memory_order_release);
  futex_wake_all(word);
}

bool futex_wait_any(std::span<const WatchedWord> words, int64_t timeout_ms) {
  std::array<KernelWaiter, kWatchedWordsMax> waiters;
  const size_t n = words.size() < waiters.size() ? words.size() : waiters.size();
  for (size_t i = 0; i < n; ++i) {
    waiters[i] = {words[i].seen, reinterpret_cast<uint64_t>(words[i].word), kWord32Bits, 0};
  }
  const timespec until = deadline_after(timeout_ms);
  const long code = ::syscall(kFutexWaitv, waiters.data(), n, 0, &until, CLOCK_MONOTONIC);
  return code >= 0 || errno != ENOSYS;
}

}  // namespace fq
