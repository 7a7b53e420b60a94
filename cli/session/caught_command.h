// caught_command - a command whose standard output we take, with all else as we have it: for fq step.
//
// It stays in our process group, so that whoever ends a job ends it too. A signal that would end us goes to
// the command; what it has come to is told, and we die by the signal afterwards.
#pragma once

// System.
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/base/result.h"

namespace fq::cli {

struct CaughtCommand {
  std::vector<std::string> argv;
  std::vector<std::string> variables;  // "NAME=value", beside ours
  int kept = -1;                       // a descriptor that it inherits
  size_t output_max = 0;
};

struct Caught {
  int status = 0;      // as a shell tells it: 126, 127, 128 and the signal
  std::string output;  // while it was not too long
  bool too_long = false;
};

/// Ends when the command has ended and nobody has its output open any more, as $(...) does. What is longer
/// than output_max goes to `pass`, all of it, as it comes.
Result<Caught> run_caught(const CaughtCommand& command,
                          const std::function<Result<void>(std::string_view)>& pass);

}  // namespace fq::cli
