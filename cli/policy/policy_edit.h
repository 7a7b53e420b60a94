// policy_edit - fq.toml in an editor: put in place only when it is good.
#pragma once

// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "cli/words/exit_code.h"

namespace fq::cli {

/// The editor gets a copy beside the file, or beside the one that it is a link to; a copy that was not good
/// is kept, and the next edit goes on with it. ErrorKind::usage: there is no editor; config or denied: it is
/// not good; later: the file was changed meanwhile; missing: there is no spool.
Result<Exit> edit_policy(const Location& location);

}  // namespace fq::cli
