// not_built - the calls of the door that this engine does not have yet: the one list of them, which only
// shrinks.
//
// Until it is empty fq-redis is neither installed nor packaged.
#pragma once

// System.
#include <string>
#include <string_view>
// fq, below us.
#include "core/base/error.h"

namespace fq::not_built {

inline constexpr std::string_view kMove = "moving messages to another queue";
inline constexpr std::string_view kRename = "another name for a queue";
inline constexpr std::string_view kRepair = "repairing (fq check --repair)";

inline Error refusal(std::string_view what) {
  return Error{ErrorKind::unusable,
               "fq-redis: " + std::string(what) + ": is not there yet for queues on a server", 0};
}

}  // namespace fq::not_built
