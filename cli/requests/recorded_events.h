// recorded_events - the events of a queue, from its journal or from a file that `fq log --json` wrote.
#pragma once

// System.
#include <cstdint>
#include <optional>
#include <string>
// fq, below us.
#include "core/simulate/recording.h"
// fq, this room.
#include "cli/session/session.h"

namespace fq::cli {

/// Up to now: later events are not waited for.
Result<void> record_queue(Session& session, std::optional<int64_t> since_wall_ms, Recording& into);

/// "-" is standard input. Of one queue: the one that was named, else that of the first line, which the
/// session names from then on. ErrorKind::bad_data: a line that is no event, with its number.
Result<void> record_file(Session& session, const std::string& file, std::optional<int64_t> since_wall_ms,
                         Recording& into);

}  // namespace fq::cli
