#include "cli/terminal/environment.h"

// System.
#include <cstdlib>

namespace fq::cli {

std::optional<std::string> environment(const char* name) {
  const char* value = ::secure_getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

}  // namespace fq::cli
