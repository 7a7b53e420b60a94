#include "core/shm/robust_mutex.h"

// System.
#include <linux/futex.h>

#include <cerrno>
#include <climits>
#include <ctime>
// fq, below us.
#include "core/base/assert.h"
// fq, this room.
#include "core/shm/deadline.h"

namespace fq {

namespace {

constexpr int kNotRecoverable = INT_MAX - 1;  // glibc's owner of a lock unlocked while inconsistent

// An unlock wakes one waiter. Where that one is killed before it runs, and a newcomer has the lock by then,
// the newcomer's unlock wakes nobody: all others look by themselves so often. Chosen: as long as who waits
// for a sync sleeps at a time.
constexpr int64_t kSliceMs = 20;

Taken taken_from(int code) {
  switch (code) {
    case 0:
      return Taken::clean;
    case EOWNERDEAD:
      return Taken::owner_died;
    case EBUSY:
    case ETIMEDOUT:
      return Taken::timed_out;
    default:
      // ENOTRECOVERABLE, or a word of garbage: either way this lock is no lock.
      return Taken::unusable;
  }
}

#ifdef __SANITIZE_THREAD__
// The thread sanitizer of g++ 12 does not know pthread_mutex_clocklock, and would see a lock never taken.
constexpr clockid_t kWaitClock = CLOCK_REALTIME;
int lock_until(pthread_mutex_t* mutex, const timespec& until) {
  return pthread_mutex_timedlock(mutex, &until);
}
#else
// MONOTONIC: a stepped wall clock neither cuts the wait short nor makes it endless.
constexpr clockid_t kWaitClock = CLOCK_MONOTONIC;
int lock_until(pthread_mutex_t* mutex, const timespec& until) {
  return pthread_mutex_clocklock(mutex, kWaitClock, &until);
}
#endif

bool is_before(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

}  // namespace

bool RobustMutex::initialise() {
  pthread_mutexattr_t attributes;
  if (pthread_mutexattr_init(&attributes) != 0) return false;
  int robust = PTHREAD_MUTEX_STALLED;
  const bool made = pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0 &&
                    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0 &&
                    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_NORMAL) == 0 &&
                    pthread_mutexattr_getrobust(&attributes, &robust) == 0 &&
                    robust == PTHREAD_MUTEX_ROBUST && pthread_mutex_init(&mutex_, &attributes) == 0;
  pthread_mutexattr_destroy(&attributes);
  return made;
}

Taken RobustMutex::try_take() {
  const Taken taken = taken_from(pthread_mutex_trylock(&mutex_));
  // glibc's trylock leaves the word of a lost lock taken, so that only the first try says what it is.
  if (taken != Taken::timed_out) return taken;
  const int owner = __atomic_load_n(&mutex_.__data.__owner, __ATOMIC_RELAXED);
  return owner == kNotRecoverable ? Taken::unusable : Taken::timed_out;
}

Taken RobustMutex::take(int64_t timeout_ms) {
  // The clock is read only by those who have to wait.
  const Taken at_once = try_take();
  if (at_once != Taken::timed_out) return at_once;
  const timespec until = deadline_after(timeout_ms, kWaitClock);
  Taken taken = Taken::timed_out;
  for (bool last = false; taken == Taken::timed_out && !last;) {
    const timespec slice = deadline_after(kSliceMs, kWaitClock);
    last = !is_before(slice, until);
    taken = taken_from(lock_until(&mutex_, last ? until : slice));
  }
  if (taken == Taken::timed_out) taken = try_take();
  // Others may sleep on it too, which glibc forgets from one slice to the next: our unlock is to wake one.
  if (taken == Taken::clean || taken == Taken::owner_died)
    __atomic_fetch_or(&mutex_.__data.__lock, static_cast<int>(FUTEX_WAITERS), __ATOMIC_RELAXED);
  return taken;
}

bool RobustMutex::take_whole(int64_t timeout_ms) {
  const Taken taken = take(timeout_ms);
  if (taken == Taken::owner_died) consistent();
  return taken == Taken::clean || taken == Taken::owner_died;
}

void RobustMutex::consistent() { FQ_ASSERT(pthread_mutex_consistent(&mutex_) == 0); }

void RobustMutex::unlock() { FQ_ASSERT(pthread_mutex_unlock(&mutex_) == 0); }

int RobustMutex::holder() const {
  // The word and not glibc's owner field, which a holder writes later: it may be stopped in between.
  const auto word = static_cast<uint32_t>(__atomic_load_n(&mutex_.__data.__lock, __ATOMIC_RELAXED));
  return static_cast<int>(word & FUTEX_TID_MASK);
}

}  // namespace fq
