#include "core/redis/waits/waiting.h"

// System.
#include <poll.h>

#include <algorithm>
#include <random>
// fq, below us.
#include "core/base/clock.h"
#include "core/engine/signals_allowed.h"
// fq, this room.
#include "core/redis/waits/bells.h"

namespace fq {

namespace {

constexpr int64_t kDeafMs = 50;   // between two looks of one whom nobody tells of anything
constexpr int64_t kNapPart = 8;   // of what it has waited
constexpr int64_t kSpreadMs = 5;  // over which those look who wait for the same time

// One that is woken all the time, or has to look again at once, for whatever reason, looks no more often.
constexpr int64_t kWindowMs = 100;
constexpr int kWokenMax = 20;

int64_t spread_ms() { return static_cast<int64_t>(std::random_device{}() % uint64_t{kSpreadMs}); }

}  // namespace

Waiting::Waiting(std::optional<int64_t> wait_ms, Interrupt* interrupt, bool signals)
    : wait_ms_(wait_ms), interrupt_(interrupt), signals_(signals), start_ms_(system_clock().boot_ms()) {}

int64_t Waiting::left_ms() const {
  const int64_t waited_ms = system_clock().boot_ms() - start_ms_;
  if (!wait_ms_) return INT64_MAX;
  return *wait_ms_ > waited_ms ? *wait_ms_ - waited_ms : 0;  // whatever is asked for, INT64_MIN too
}

Waiting::End Waiting::end() const {
  if (interrupt_ != nullptr && interrupt_->raised()) return End::interrupted;
  return left_ms() == 0 ? End::timed_out : End::goes_on;
}

template <class Pause>
Waiting::End Waiting::sleep_for(int64_t ms, Pause pause) {
  const int64_t end_ms = system_clock().boot_ms() + ms;
  for (int64_t rest_ms = ms; rest_ms > 0; rest_ms = end_ms - system_clock().boot_ms()) {
    const int interrupted = interrupt_ == nullptr ? -1 : interrupt_->descriptor();
    if (const End now = end(); now != End::goes_on) return now;
    const int64_t slice_ms = std::min(rest_ms, std::max<int64_t>(1, left_ms()));
    const SignalsAllowed allowed(signals_);
    if (pause(slice_ms, interrupted)) break;
  }
  return end();
}

Waiting::End Waiting::sleep(std::optional<int64_t> at_most_ms) {
  return sleep_for(std::clamp<int64_t>(at_most_ms.value_or(kDeafMs), 1, kDeafMs),
                   [](int64_t ms, int interrupted) {
                     pollfd one{interrupted, POLLIN, 0};
                     ::poll(&one, 1, static_cast<int>(ms));
                     return false;
                   });
}

int64_t Waiting::nap_ms(int64_t waited_ms) { return std::clamp<int64_t>(waited_ms / kNapPart, 1, kDeafMs); }

int64_t Waiting::nap_ms() const { return nap_ms(system_clock().boot_ms() - start_ms_); }

Waiting::End Waiting::nap() { return sleep(nap_ms()); }

void Waiting::begin_window() {
  const int64_t now_ms = system_clock().boot_ms();
  if (now_ms - window_ms_ >= kWindowMs) window_ms_ = now_ms, woken_ = 0;
}

bool Waiting::looks_at_once() {
  begin_window();
  if (woken_ >= kWokenMax) return false;
  ++woken_;
  return true;
}

Waiting::End Waiting::sleep(Bells& bells, int64_t patience_ms, std::optional<int64_t> at_most_ms) {
  begin_window();
  if (woken_ >= kWokenMax) return sleep(window_ms_ + kWindowMs - system_clock().boot_ms());
  int64_t ms = patience_ms;
  if (at_most_ms) ms = std::min(ms, *at_most_ms + spread_ms());
  return sleep_for(std::max<int64_t>(1, ms), [&](int64_t slice_ms, int interrupted) {
    const bool rang = bells.wait(slice_ms, interrupted);
    woken_ += rang ? 1 : 0;
    return rang;
  });
}

}  // namespace fq
