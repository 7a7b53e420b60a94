// new_file - a file that takes the place of another one only when all of it is there.
#pragma once

// System.
#include <string>
#include <string_view>
// fq, below us.
#include "core/base/result.h"

namespace fq::cli {

/// Writes `bytes` to the file, which only its user can read. Until they are on disk a file that was there
/// stays what it was; what is no regular file (a pipe, a device) is written to.
Result<void> write_new_file(const std::string& path, std::string_view bytes);

}  // namespace fq::cli
