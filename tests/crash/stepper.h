// stepper - a process that is killed between any two of its instructions.
//
// It is run to a step of its trace by a breakpoint, and by single steps from there where that is quicker than
// all the passes of a loop; then it is killed. Where the process finds its world as the recorded one found
// it, it gets there by the same way; that it did is checked.
#pragma once

// System.
#include <string>
// Tests.
#include "tests/crash/trace.h"

namespace fq::test {

struct Ended {
  enum class How {
    killed,     // where it was to be
    elsewhere,  // it took another way than the recording, and was killed there or at its end mark
    broken,     // it hung, or ended by itself
  };
  How how = How::broken;
  std::string what;  // broken: how
};

class Stepper {
 public:
  /// Whether this system lets us trace a child.
  static bool permitted();
  /// For the run time of the program: a tracer and its child on one processor change places much faster.
  static void stay_on_one_processor();

  /// Runs the body until it has done `step` instructions behind its begin mark, and kills it there.
  static Ended kill_after(const Body& body, const Trace& trace, size_t step);
};

}  // namespace fq::test
