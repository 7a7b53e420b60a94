// subcommand - the second word of `fq queue`, `fq tenant` and `fq config`.
#pragma once

// System.
#include <span>
#include <string_view>
// fq, below us.
#include "core/base/result.h"

namespace fq::cli {

/// `names` are those that `command` has; words of others lead to them. ErrorKind::usage.
Error missing_subcommand(std::string_view command, std::span<const std::string_view> names);
Error unknown_subcommand(std::string_view command, std::string_view word,
                         std::span<const std::string_view> names);

}  // namespace fq::cli
