// policy_checks - the checks of what is to hold for tenants, pools and a queue, by a file or at run time.
#pragma once

// fq, below us.
#include "core/base/result.h"
// fq, this room.
#include "core/api/settings.h"

namespace fq {

/// `path`: the tenant's; empty: of the queue itself. Each setting is told once, and only a pool has a name, so
/// that what is taken has a bound.
Result<void> check_patch(std::string_view path, const PolicyPatch& patch);
/// The same of each part of a file's policy, which has nothing that is set at run time only.
Result<void> check_policy_values(const Policy& policy);

}  // namespace fq
