// stopped_workers - who works, for hints of commands that do something else. A worker that is stopped ends no
// job: who cancels what it runs is told.
#pragma once

// System.
#include <vector>
// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "cli/session/session.h"

namespace fq::cli {

/// A shard that does not answer is not missing in what the command does.
Result<std::vector<Attendee>> attendees_for_hint(Session& session, Queue& queue);

/// Of a queue in a directory; none where that cannot be known.
std::vector<Attendee> stopped_workers(Session& session, Queue& queue);

/// Names each of `before` that is still stopped and no longer holds all that it held: those jobs run on.
void say_what_runs_on(Session& session, Queue& queue, const std::vector<Attendee>& before);

}  // namespace fq::cli
