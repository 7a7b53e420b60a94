#include "cli/terminal/typed_command.h"

// System.
#include <utility>
// fq, this room.
#include "cli/terminal/environment.h"

namespace fq::cli {

std::string typed_command(std::string command, const std::string& queue) {
  if (queue == environment("FQ_QUEUE").value_or("default")) return command;
  return std::move(command) + " -q " + queue;
}

}  // namespace fq::cli
