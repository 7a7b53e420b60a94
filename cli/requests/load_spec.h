// load_spec - TENANT:RATE,run=DUR[,weight=W], as `fq simulate --load` takes it.
#pragma once

// System.
#include <string_view>
// fq, below us.
#include "core/base/result.h"
#include "core/simulate/invented_load.h"

namespace fq::cli {

/// A fault is ErrorKind::usage.
Result<LoadSpec> to_load_spec(std::string_view name, std::string_view text);

}  // namespace fq::cli
