// policy - keeps what a queue holds of fq.toml up to date, reading the file only when it has changed.
#pragma once

// fq, below us.
#include "core/api/queue.h"

namespace fq::cli {

/// Does nothing when the queue already holds this state of the file. ErrorKind::config or denied when the
/// file cannot be used; the queue then goes on with what it holds.
Result<void> bring_policy_up_to_date(Queue& queue, const Location& location);

}  // namespace fq::cli
