// command_check - what a command must be to be run as it stands, whichever way it comes into a queue.
#pragma once

// fq, below us.
#include "core/base/result.h"
// fq, this room.
#include "core/api/message.h"

namespace fq {

/// The fault begins with what is wrong: argv, cwd, env, or the command as a whole.
Result<void> check_job_command(const JobCommand& command);

}  // namespace fq
