// since - the instant from which on somebody wants to see something, as it is typed: a time, or how long ago.
#pragma once

// System.
#include <cstdint>
#include <string_view>
// fq, below us.
#include "core/base/result.h"

namespace fq::cli {

/// "2h" is that long before `now_ms`; anything else is a time. A time before all times is INT64_MIN:
/// everything. A refusal tells why; `name` starts that message.
Result<int64_t> to_since(std::string_view name, std::string_view typed, int64_t now_ms);

}  // namespace fq::cli
