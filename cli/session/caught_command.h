// caught_command - a command whose standard output we take, with all else as we have it: for fq step.
//
// It stays in our process group, so that a signal that ends the job ends it too. A signal that would end us
// goes to the command; its result is told, and we die by the signal afterwards.
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

/// Ends when the command has ended and no process has its output open any more, as $(...) does. Output longer
/// than output_max goes to `pass`, all of it, as it comes.
Result<Caught> run_caught(const CaughtCommand& command,
                          const std::function<Result<void>(std::string_view)>& pass);

}  // namespace fq::cli
