// run - one command line from its words to its exit code; main without the process around it.
#pragma once

// fq, this room.
#include "cli/words/exit_code.h"

namespace fq::cli {

/// Everything is said and written when it returns. Needs: block_signals() was called.
Exit run(int argc, char** argv);

}  // namespace fq::cli
