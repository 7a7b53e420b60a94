#include "cli/session/patience.h"

// System.
#include <poll.h>

#include <algorithm>
#include <utility>
// fq, below us.
#include "core/base/clock.h"
// fq, this room.
#include "cli/terminal/output.h"
#include "cli/terminal/signals.h"

namespace fq::cli {

namespace {

constexpr int64_t kPauseMs = 50, kPauseMaxMs = 1'000;

}  // namespace

Patience::Patience(std::optional<int64_t> wait_ms, Interrupt* interrupt, int64_t missed_ms)
    : wait_ms_(wait_ms), interrupt_(interrupt), missed_ms_(missed_ms), begin_ms_(system_clock().boot_ms()) {}

std::optional<int64_t> Patience::left_ms() const {
  if (!wait_ms_) return std::nullopt;
  return std::max<int64_t>(0, *wait_ms_ - (system_clock().boot_ms() - begin_ms_));
}

bool Patience::bears(const Error& error) {
  if (!error.passes) return false;
  const int64_t now_ms = system_clock().boot_ms();
  const bool is_news = !std::exchange(is_away_, true);
  if (is_news) away_ms_ = now_ms, pause_ms_ = kPauseMs;
  const int64_t left = left_ms().value_or(missed_ms_ - (now_ms - away_ms_));
  if (left <= 0 || (interrupt_ != nullptr && interrupt_->raised())) return false;
  if (is_news) say(error.text + "; goes on trying");
  pause(std::min(pause_ms_, left));
  pause_ms_ = std::min(2 * pause_ms_, kPauseMaxMs);
  return true;
}

void Patience::pause(int64_t ms) const {
  pollfd one{interrupt_ == nullptr ? -1 : interrupt_->descriptor(), POLLIN, 0};
  const LetSignalsThrough now;
  ::poll(&one, 1, static_cast<int>(ms));
}

}  // namespace fq::cli
