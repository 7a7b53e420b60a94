// measure - who works on the queues of the spool, and how long that takes.
#pragma once

// fq, this room.
#include "cli/session/session.h"
#include "cli/views/start_estimate.h"

namespace fq::cli {

/// Of all queues that can be asked: a worker may have several. One that cannot is no reason to say nothing of
/// the others.
Crew crew_of(Session& session);

/// Of one queue; `sums` is its row of stats.
Measured measured_of(const Crew& crew, const std::string& queue, const StatsRow& sums);

}  // namespace fq::cli
