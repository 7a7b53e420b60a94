// job_options - the job of a command message: the words behind "--", our working directory, and those of our
// variables that --env names.
#pragma once

// System.
#include <optional>
#include <string>
#include <vector>
// fq, below us.
#include "core/api/message.h"
#include "core/base/result.h"
// fq, this room.
#include "cli/words/arguments.h"

namespace fq::cli {

/// Where a command that is pushed runs.
Result<std::string> working_directory();

/// The command that was given, by -- or --shell; empty: none was.
Result<std::vector<std::string>> job_words(const Arguments& arguments);
/// With our directory and variables; none where no command was given.
Result<std::optional<JobCommand>> job_of(const Arguments& arguments);

}  // namespace fq::cli
