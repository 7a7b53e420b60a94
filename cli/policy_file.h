// policy_file - fq.toml as typed settings of one queue.
//
// `[queue.NAME]` is one queue, `[queue."pattern"]` those that match (`*` is the only wildcard). Each value
// comes from the most exact entry that sets it: a plain name, then more literal characters, then the
// later one. The whole file is checked, also what is for other queues: an unknown key anywhere is an
// error with its line and a suggestion, so that a slip never waits for its moment.
#pragma once

// System.
#include <string>
#include <string_view>
// fq, below us.
#include "core/api/settings.h"
#include "core/base/result.h"

namespace fq::cli {

inline constexpr size_t kPolicyFileBytesMax = 1024 * 1024;

/// `path` is for messages only. Faults are ErrorKind::config.
Result<Settings> parse_policy(std::string_view text, const std::string& path, std::string_view queue);

}  // namespace fq::cli
