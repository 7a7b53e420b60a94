#include "core/shm/life_lock.h"

// System.
#include <linux/futex.h>

namespace fq {

uint32_t LifeLock::word() const {
  return static_cast<uint32_t>(__atomic_load_n(&mutex_.mutex_.__data.__lock, __ATOMIC_ACQUIRE));
}

bool LifeLock::begin() {
  const Taken taken = mutex_.try_take();
  if (taken == Taken::owner_died) mutex_.consistent();
  if (taken != Taken::clean && taken != Taken::owner_died) return false;
  __atomic_fetch_or(&mutex_.mutex_.__data.__lock, static_cast<int>(FUTEX_WAITERS), __ATOMIC_ACQ_REL);
  return true;
}

void LifeLock::end() { mutex_.unlock(); }

bool LifeLock::is_dead() const { return (word() & FUTEX_OWNER_DIED) != 0; }

WatchedWord LifeLock::watched() const { return {&mutex_.mutex_.__data.__lock, word()}; }

}  // namespace fq
