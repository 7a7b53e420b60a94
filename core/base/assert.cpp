#include "core/base/assert.h"

// System.
#include <cstdlib>

namespace fq {

namespace {
BugHandler bug_handler = nullptr;
}

void set_bug_handler(BugHandler handler) { bug_handler = handler; }

void report_bug(const char* what, const char* file, int line) {
  if (bug_handler != nullptr) bug_handler(what, file, line);
  std::abort();
}

}  // namespace fq
