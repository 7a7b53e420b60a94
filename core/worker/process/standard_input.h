// standard_input - a job's payload as something that it can read: a pipe where it fits, else an open file.
#pragma once

// System.
#include <string_view>
// fq, below us.
#include "core/api/queue.h"
#include "core/base/descriptor.h"

namespace fq::worker {

/// All of `bytes`, readable without a writer.
Result<Descriptor> readable(std::string_view bytes);
/// The same of a payload; one that lies in a file is read from there.
Result<Descriptor> readable(const Payload& payload);
/// /dev/null, for reading or writing.
Result<Descriptor> open_null();

}  // namespace fq::worker
