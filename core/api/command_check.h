// command_check - what a command must be to be run as it stands, whichever way it comes into a queue; and
// whether this process can put one there.
#pragma once

// System.
#include <string>
#include <string_view>
// fq, below us.
#include "core/base/result.h"
// fq, this room.
#include "core/api/message.h"

namespace fq {

/// The fault begins with what is wrong: argv, cwd, env, or the command as a whole.
Result<void> check_job_command(const JobCommand& command);

/// Whether this process can put commands into queues of this spool, and tell which there are genuine, before
/// any is opened or made; a server is not asked. `object`: what the fault begins with.
/// ErrorKind::config: it lacks what that takes.
Result<void> check_takes_commands(const std::string& spool, std::string_view object);

}  // namespace fq
