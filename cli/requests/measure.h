// measure - the workers on the queues of the spool, and how long their jobs take.
#pragma once

// fq, this room.
#include "cli/session/session.h"
#include "cli/views/start_estimate.h"

namespace fq::cli {

/// Of all queues that can be asked: a worker may have several. A queue that cannot be asked does not keep the
/// others from being told.
Crew crew_of(Session& session);

/// Of one queue; `sums` is its row of stats.
Measured measured_of(const Crew& crew, const std::string& queue, const StatsRow& sums);

}  // namespace fq::cli
