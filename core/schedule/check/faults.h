// faults - the faults of a schedule, and its differences from another one: for fq check and tests.
#pragma once

// System.
#include <string>
#include <vector>
// fq, below us.
#include "core/base/text/counted_lines.h"
// fq, this room.
#include "core/schedule/schedule.h"

namespace fq {

/// Everything that must hold inside one schedule; each breach is a line. Walks all.
std::vector<std::string> schedule_faults(const Schedule& schedule);
/// Where two schedules differ in what a rebuild must give again: messages, states, attempts, order within
/// tenants, due times. Timers may differ by `slack_ms`. A message that `live` has changed in memory only is
/// held to what the journal can know of it.
CountedLines schedule_differences(const Schedule& live, const Schedule& rebuilt, int64_t slack_ms);

}  // namespace fq
