// companion - the program beside this one that has the engine of a spool which this one has not.
//
// fq itself keeps queues in directories and stays small; queues on a Redis or Valkey server are kept by
// fq-redis, which is the same commands with another engine. It is looked for where fq's own file lies and in
// ../libexec/fq from there, never in PATH: a person who can put a file there may run it already, but not as
// us.
#pragma once

// System.
#include <string>
// fq, below us.
#include "core/base/result.h"

namespace fq::cli {

/// Comes back when this program has an engine for the spool. Else, where a companion has one, the process
/// goes on as that with the same words and environment; ErrorKind::unusable when it is not installed,
/// ErrorKind::usage when nobody has such an engine.
Result<void> find_engine_or_companion(char** argv, const std::string& spool);

}  // namespace fq::cli
