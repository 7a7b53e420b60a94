#include "core/redis/shard/waiting.h"

// System.
#include <poll.h>

#include <algorithm>
// fq, below us.
#include "core/base/clock.h"
#include "core/engine/signals_allowed.h"

namespace fq {

namespace {

constexpr int64_t kPollMs = 50;       // until the server can ring: far below the bound that caps() tells
constexpr int64_t kInterruptMs = 10;  // how late an interrupt is seen

}  // namespace

Waiting::Waiting(std::optional<int64_t> wait_ms, Interrupt* interrupt, bool signals)
    : wait_ms_(wait_ms), interrupt_(interrupt), signals_(signals), start_ms_(system_clock().boot_ms()) {}

Waiting::End Waiting::end() const {
  if (interrupt_ != nullptr && interrupt_->raised()) return End::interrupted;
  const int64_t waited_ms = system_clock().boot_ms() - start_ms_;
  return wait_ms_ && waited_ms >= *wait_ms_ ? End::timed_out : End::goes_on;
}

Waiting::End Waiting::sleep(std::optional<int64_t> at_most_ms) {
  const int64_t end_ms = std::clamp<int64_t>(at_most_ms.value_or(kPollMs), 1, kPollMs);
  for (int64_t slept_ms = 0; slept_ms < end_ms; slept_ms += kInterruptMs) {
    if (const End now = end(); now != End::goes_on) return now;
    const SignalsAllowed allowed(signals_);
    ::poll(nullptr, 0, static_cast<int>(std::min(kInterruptMs, end_ms - slept_ms)));
  }
  return end();
}

}  // namespace fq
