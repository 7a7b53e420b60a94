// waiting - the sleep of a call between two looks, and the time at which it gives up.
#pragma once

// System.
#include <optional>
// fq, below us.
#include "core/api/interrupt.h"

namespace fq {

class Waiting {
 public:
  enum class End { goes_on, timed_out, interrupted };

  Waiting(std::optional<int64_t> wait_ms, Interrupt* interrupt, bool signals = true);
  /// At most so long, and never longer than a call may be late.
  End sleep(std::optional<int64_t> at_most_ms = {});

 private:
  End end() const;

  std::optional<int64_t> wait_ms_;
  Interrupt* interrupt_;
  bool signals_;
  int64_t start_ms_;
};

}  // namespace fq
