// start_estimate - about when a message starts, by the run times and rates that were measured.
//
// An estimate and no promise: the messages before it run as long as those before them did on average, nothing
// else comes, and no worker leaves. Where that stands on nothing (no worker, no run that was measured, a
// limit or a pause without a known end) there is none.
#pragma once

// System.
#include <optional>
#include <string>
// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "cli/views/crew.h"

namespace fq::cli {

struct StartEstimate {
  int64_t at_wall_ms = 0;
  std::string ground;  // "4 before it, 2 slots, 30s a run"
};

/// The measurements of a queue: its workers, and the runs that ended.
struct Measured {
  Crew::Hands hands;
  uint64_t runs = 0;  // that ended
  uint64_t run_sum_ms = 0;
};

std::optional<StartEstimate> estimate_start(const Explanation& of, const Measured& measured,
                                            int64_t now_wall_ms);

/// "2 workers, all 4 slots busy", "no worker attached".
std::string hands_text(const Crew::Hands& hands);

}  // namespace fq::cli
