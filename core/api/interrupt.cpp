#include "core/api/interrupt.h"

// System.
#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

namespace fq {

/// A handler may still run, at the end of a program: it finds no descriptor then.
Interrupt::~Interrupt() {
  if (const int descriptor = descriptor_.exchange(-1); descriptor >= 0) ::close(descriptor);
}

/// A signal ends the sleep of its own thread; another thread's has to be ended. Fit for a handler.
void Interrupt::raise() {
  const int error_before = errno;
  raised_.store(1, std::memory_order_seq_cst);
  ::syscall(SYS_futex, &raised_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  // Who makes it from here on looks at the word before it sleeps.
  if (const int descriptor = descriptor_.load(std::memory_order_seq_cst); descriptor >= 0)
    ::eventfd_write(descriptor, 1);
  errno = error_before;
}

/// It is emptied here and not where it is lowered: a raise writes to it after its word is set, and may be
/// lowered in between.
int Interrupt::descriptor() {
  int there = descriptor_.load();
  eventfd_t ignored = 0;
  if (there >= 0 && !raised()) ::eventfd_read(there, &ignored);
  if (there >= 0) return there;
  const int made = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptor_.compare_exchange_strong(there, made)) return made;
  if (made >= 0) ::close(made);
  return there;
}

}  // namespace fq
