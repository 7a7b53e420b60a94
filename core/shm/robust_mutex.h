// robust_mutex - a lock in shared memory that tells when its holder died.
//
// pthread, process-shared, robust, type normal: neither Boost's interprocess mutexes (not robust in 1.74) nor
// anything that keeps state which a dead process could spoil.
//
// A taken lock whose holder died must be made whole with consistent() before unlock, else it can never be
// locked again. The kernel tells one waiter of an unlock and of a death; a waiter that is killed may take
// that news with it, so no waiter sleeps on it alone. The memory must not be unmapped or truncated while any
// thread may still be unlocking.
#pragma once

// System.
#include <pthread.h>

#include <cstdint>

namespace fq {

enum class Taken {
  clean,       // locked
  owner_died,  // locked; the last holder died inside: repair, then consistent()
  timed_out,   // not locked: a thread that lives (perhaps stopped) holds it
  unusable,    // not locked, never again: a thread unlocked it without consistent()
};

class RobustMutex {
 public:
  /// In zeroed shared memory, before any other process can see it. False where the system makes no robust
  /// mutexes (checked by asking back, since a silent fall-back was seen elsewhere).
  bool initialise();

  /// A lock that is given up is taken within 20 ms, whatever became of others that wait for it.
  Taken take(int64_t timeout_ms);
  Taken try_take();
  /// Of a lock whose holder can leave nothing half done: its death is none of whoever comes next. False: not
  /// locked.
  bool take_whole(int64_t timeout_ms);
  void consistent();
  void unlock();

  /// The thread that holds it now, 0 for none. A hint: it may be gone when this returns.
  int holder() const;

 private:
  friend class LifeLock;
  pthread_mutex_t mutex_;
};

}  // namespace fq
