// worker_options - the options of `fq worker`, read and checked.
#pragma once

// fq, below us.
#include "core/worker/process/options.h"
// fq, this room.
#include "cli/words/arguments.h"

namespace fq::cli {

extern const OptionTable kWorkerOptions;

/// All but where it works; that is the session's.
Result<worker::Options> worker_options_of(const Arguments& arguments);

}  // namespace fq::cli
