// patience - who waits for something goes on where the server is away: a restart or a failover is no end of a
// wait.
//
// What is asked has to bear being asked twice.
#pragma once

// System.
#include <optional>
// fq, below us.
#include "core/api/interrupt.h"
#include "core/base/result.h"

namespace fq::cli {

class Patience {
 public:
  /// `wait_ms`: of the wait itself, which then is what bounds it; none: `missed_ms` for each time that the
  /// server is away. Without an interrupt signals come through between two tries.
  explicit Patience(std::optional<int64_t> wait_ms, Interrupt* interrupt = nullptr,
                    int64_t missed_ms = kMissedMs);

  /// What `ask()` says at last. An Error of a server that is away: for too long, or the interrupt was raised.
  template <class Ask>
  auto ask(const Ask& ask) -> decltype(ask()) {
    for (;;) {
      auto said = ask();
      if (said) is_away_ = false;
      if (said || !bears(said.error())) return said;
    }
  }
  /// Of the wait itself.
  std::optional<int64_t> left_ms() const;

 private:
  static constexpr int64_t kMissedMs = 300'000;  // chosen: most machines are up again by then

  bool bears(const Error& error);
  void pause(int64_t ms) const;

  const std::optional<int64_t> wait_ms_;
  Interrupt* const interrupt_;
  const int64_t missed_ms_;
  const int64_t begin_ms_;
  bool is_away_ = false;
  int64_t away_ms_ = 0, pause_ms_ = 0;  // since when, and the next pause
};

/// Of a look that is no wait itself, at the end of one.
template <class Ask>
auto ask_patiently(const Ask& ask) -> decltype(ask()) {
  return Patience(std::nullopt).ask(ask);
}

}  // namespace fq::cli
