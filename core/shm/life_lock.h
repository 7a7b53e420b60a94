// life_lock - a lock that a process holds for as long as it lives, so that others see its death.
//
// The kernel marks a robust lock when the thread that holds it ends, however it ends. It wakes sleepers only
// where FUTEX_WAITERS is set in the word, so the owner sets it itself. Taken by the thread that lives as long
// as the process; looked at by any process, without a system call.
#pragma once

// fq, this room.
#include "core/shm/futex.h"
#include "core/shm/robust_mutex.h"

namespace fq {

class LifeLock {
 public:
  bool initialise() { return mutex_.initialise(); }

  /// Takes the lock for this thread's life. False when another process holds it.
  bool begin();
  /// Gives it up. Needs: begun by this thread.
  void end();

  /// Whether its last holder died without end(). Needs: it was begun once.
  bool is_dead() const;
  /// The word that a waiter sleeps on: it changes when the holder dies or ends.
  WatchedWord watched() const;

 private:
  uint32_t word() const;
  RobustMutex mutex_;
};

}  // namespace fq
