// new_file - files that are written whole: where there is none, or in the place of another one.
#pragma once

// System.
#include <string>
#include <string_view>
// fq, below us.
#include "core/base/result.h"

namespace fq::cli {

/// The file that links lead to from `path`, be it there or not. One of /proc is no name but an open file, and
/// is followed no further.
std::string end_of_links(std::string path);

/// The directory that the name stands in.
std::string directory_of(const std::string& path);

/// Writes `bytes` to a file that is not there yet and that only its user can read.
Result<void> write_new_file(const std::string& path, std::string_view bytes);

/// The same, but until the bytes are on disk a file that was there stays what it was; then it is replaced. A
/// link stays, and leads to the new file. What is not a regular file (a pipe, a device, an open file below
/// /proc) is written to, behind what it has; a signal ends that wherever it waits.
Result<void> replace_file(const std::string& path, std::string_view bytes);

}  // namespace fq::cli
