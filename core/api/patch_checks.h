// patch_checks - the checks of what is to be set at run time, for a tenant or for the queue.
#pragma once

// fq, below us.
#include "core/base/result.h"
// fq, this room.
#include "core/api/settings.h"

namespace fq {

/// `path`: the tenant's; empty: of the queue itself. Each setting is told once, and only a pool has a name, so
/// that what is taken has a bound.
Result<void> check_patch(std::string_view path, const PolicyPatch& patch);

}  // namespace fq
