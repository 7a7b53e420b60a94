// assignment - the KEY=VALUE words of `fq queue set` and `fq tenant set`.
#pragma once

// System.
#include <span>
#include <string>
#include <string_view>
// fq, below us.
#include "core/api/queue.h"
#include "core/base/result.h"
// fq, this room.
#include "core/policy/policy_key.h"

namespace fq::cli {

/// All of them or none: the first that is wrong is the fault (ErrorKind::usage, named for `object`). `KEY=`
/// takes a key back; of the same key the last one holds.
Result<PolicyPatch> to_patch(std::string_view object, std::span<const std::string> words, PolicyNode node);

/// Whether it makes sense with what else holds: ErrorKind::usage when order and scope of the queue would not,
/// or a tenant's pool is nowhere defined; ErrorKind::config when only a broken file could tell.
Result<void> check_patch(std::string_view object, const PolicyPatch& patch, Queue& queue,
                         const Location& location);

}  // namespace fq::cli
