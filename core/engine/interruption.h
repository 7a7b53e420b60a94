// interruption - the end of a repair between two of its steps, each of which leaves a sound queue.
#pragma once

// System.
#include <string>
#include <vector>
// fq, below us.
#include "core/api/interrupt.h"
#include "core/base/result.h"
#include "core/base/text/counted_lines.h"

namespace fq {

/// An Error (ErrorKind::later, EINTR) once it was raised. Null: it never is.
Result<void> unless_raised(const Interrupt* interrupt);

/// The same between two steps, where signals come through; without an interrupt they do what they do.
Result<void> unless_interrupted(const Interrupt* interrupt);

/// What a repair that did not come to its end has done: told before the error, which would hide it.
std::vector<std::string> notices_of(const CountedLines& repairs);

}  // namespace fq
