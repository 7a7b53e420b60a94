// environment - the caller's environment.
#pragma once

// System.
#include <optional>
#include <string>

namespace fq::cli {

/// Set and not empty; none in a privileged process.
std::optional<std::string> environment(const char* name);

}  // namespace fq::cli
