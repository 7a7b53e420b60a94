// left_out - what this machine does not let a test try. A test that does nothing is green: tests/run.sh tells at
// its end what was left out.
#pragma once

// System.
#include <cstdlib>
#include <fstream>
#include <string>
// Tests.
#include "tests/catch.h"

namespace fq::test {

/// Adds a line to the file that FQ_LEFT_OUT names, as left_out() of tests/cli/lib.sh does.
inline void leave_out(const std::string& why) {
  WARN("left out: " << why);
  const char* list = std::getenv("FQ_LEFT_OUT");
  if (list == nullptr) return;
  const std::string line = Catch::getResultCapture().getCurrentTestName() + ": " + why + '\n';
  std::ofstream(list, std::ios::app) << line << std::flush;
}

}  // namespace fq::test
