// futex - sleeping on words in shared memory.
//
// A word is an event counter: a process that changes something adds one and wakes, a waiter reads the word,
// looks whether there is anything to do, and sleeps only while the word still is what it read. A waiter that
// dies leaves nothing behind. A waker may die between adding and waking, so every sleep has a cap.
#pragma once

// System.
#include <atomic>
#include <cstdint>
#include <span>

namespace fq {

using EventWord = std::atomic<uint32_t>;
static_assert(sizeof(EventWord) == 4);
static_assert(EventWord::is_always_lock_free);

/// A word and the value that it had when its owner looked.
struct WatchedWord {
  const void* word;
  uint32_t seen;
};
inline constexpr size_t kWatchedWordsMax = 128;  // the kernel's limit

/// Returns when the word differs from `seen`, on a wake, a signal, or after timeout_ms.
void futex_wait(EventWord& word, uint32_t seen, int64_t timeout_ms);
void futex_wake_all(EventWord& word);
void futex_wake_all(const void* word);
/// Wakes so many of the threads that sleep on the word.
void futex_wake(EventWord& word, uint32_t sleepers);
inline constexpr uint32_t kEverybody = 0x7fffffff;

/// Sleeps on many words at once; false where the kernel cannot (before 5.16): then nothing was waited.
bool futex_wait_any(std::span<const WatchedWord> words, int64_t timeout_ms);

/// Adds one and wakes every thread that sleeps on the word.
void announce(EventWord& word);

}  // namespace fq
