#include "core/engine/interruption.h"

// System.
#include <cerrno>
// fq, below us.
#include "core/base/text/counted.h"
// fq, this room.
#include "core/engine/signals_allowed.h"

namespace fq {

Result<void> unless_raised(const Interrupt* interrupt) {
  if (interrupt == nullptr || !interrupt->raised()) return {};
  return Error{ErrorKind::later, "interrupted; another repair does the rest", EINTR};
}

Result<void> unless_interrupted(const Interrupt* interrupt) {
  { const SignalsAllowed now(true); }
  return unless_raised(interrupt);
}

std::vector<std::string> notices_of(const CountedLines& repairs) {
  std::vector<std::string> notices;
  for (const std::string& line : repairs.lines) notices.push_back("repaired: " + line);
  if (repairs.count > repairs.lines.size())
    notices.push_back("repaired: " + counted(repairs.count, "thing") + " in all");
  return notices;
}

}  // namespace fq
