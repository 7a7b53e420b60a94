// verdict_order - a verdict with everything that it says, until its queue has it.
#pragma once

// System.
#include <cstdint>
#include <optional>
#include <string>
// fq, below us.
#include "core/api/queue.h"

namespace fq::worker {

/// All of it owned.
struct VerdictOrder {
  Receipt receipt;
  MessageId id{};
  Verdict verdict = Verdict::ack;
  int64_t delay_ms = 0;
  std::string reason;
  std::optional<int> exit;
  std::optional<int> signal;
  std::string stderr_tail;
  std::optional<JobOutput> output;
  std::optional<uint64_t> run_us;
  std::string said;  // once the verdict is given and holds; "": nothing
};

/// As the queue takes it. Good as long as the order is.
Settle settle_of(const VerdictOrder& order);

}  // namespace fq::worker
