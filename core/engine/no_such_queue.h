// no_such_queue - that there is no queue of a name, as every engine says it.
#pragma once

// System.
#include <string_view>
// fq, below us.
#include "core/base/error.h"

namespace fq {

/// `queue`: a name that a queue may have.
Error no_such_queue(std::string_view queue);

}  // namespace fq
