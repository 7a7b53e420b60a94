// new_file - files that are written whole: where there is none, or in the place of another one.
#pragma once

// System.
#include <string>
#include <string_view>
// fq, below us.
#include "core/base/result.h"

namespace fq::cli {

/// Writes `bytes` to a file that is not there yet and that only its user can read.
Result<void> write_new_file(const std::string& path, std::string_view bytes);

/// The same, but until the bytes are on disk a file that was there stays what it was; then it is replaced. A
/// file that is not a regular one (a pipe, a device) is written to.
Result<void> replace_file(const std::string& path, std::string_view bytes);

}  // namespace fq::cli
