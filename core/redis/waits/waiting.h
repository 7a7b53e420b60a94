// waiting - the sleep of a call between two looks, and the time at which it gives up.
#pragma once

// System.
#include <optional>
// fq, below us.
#include "core/api/interrupt.h"

namespace fq {

class Bells;

class Waiting {
 public:
  enum class End { goes_on, timed_out, interrupted };

  Waiting(std::optional<int64_t> wait_ms, Interrupt* interrupt, bool signals = true);
  /// At most so long, and never longer than a call may be late where nobody tells it of anything.
  End sleep(std::optional<int64_t> at_most_ms);
  /// Before the next look at what nobody tells of, and others may bring about at any moment.
  End nap();
  /// So long: what takes long is seen late by a small part of that, and what is over soon at once.
  static int64_t nap_ms(int64_t waited_ms);
  int64_t nap_ms() const;
  /// Until one of them rings; at most so long, and as patience allows.
  End sleep(Bells& bells, int64_t patience_ms, std::optional<int64_t> at_most_ms);
  /// Without a sleep before the next look. False: it has done so often of late.
  bool looks_at_once();
  End end() const;
  bool is_over() const { return end() != End::goes_on; }

 private:
  int64_t left_ms() const;
  void begin_window();
  /// So long, but not beyond the end of the wait: `pause(ms, interrupted)` sleeps, or until that descriptor
  /// can be read (-1: none is to be had, then an interrupt by another thread is seen with the next look).
  /// True: the sleep is over.
  template <class Pause>
  End sleep_for(int64_t ms, Pause pause);

  std::optional<int64_t> wait_ms_;
  Interrupt* interrupt_;
  bool signals_;
  int64_t start_ms_;
  int64_t window_ms_ = 0;  // in which so often it was woken, or did not sleep
  int woken_ = 0;
};

}  // namespace fq
