#include "core/api/interrupt.h"

// System.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace fq {

void Interrupt::raise() {
  raised_.store(1, std::memory_order_relaxed);
  // A signal ends the sleep of its own thread; another thread's has to be ended. Fit for a handler.
  ::syscall(SYS_futex, &raised_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace fq
