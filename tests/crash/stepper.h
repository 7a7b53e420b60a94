// stepper - a process that can be killed between any two of its instructions.
//
// A body is run in a forked child: what it does between begin_mark() and end_mark() is looked at, the rest is
// its preparation. It is recorded once, one instruction a step; a system call is one of them. From then on a
// child is run to any of its steps by a breakpoint and killed there: a single step costs a virtual machine
// ten times as much as running on. The child comes from the test program itself, so the steps are fq's and
// the C library's own, none of a dynamic linker's, and are the same each time where the body's world is.
#pragma once

// System.
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fq::test {

void begin_mark();
void end_mark();

using Body = std::function<void()>;
/// What the caller wants to know of each moment of a recording, while the process stands still.
using Look = std::function<uint32_t(pid_t)>;

/// One run of a body from mark to mark.
class Trace {
 public:
  /// How many instructions there are: a body can be killed after 0 to steps() of them.
  size_t steps() const { return moments_.size() - 1; }
  uint64_t address(size_t step) const { return moments_[step].address; }
  /// How often the process had been there before.
  uint32_t passes(size_t step) const { return moments_[step].passes; }
  uint32_t seen(size_t step) const { return moments_[step].seen; }

 private:
  friend class Stepper;
  struct Moment {
    uint64_t address;  // of the next instruction
    uint32_t seen;     // by the Look
    uint32_t passes;   // of this address before
    uint32_t anchor;   // the step to which a breakpoint leads on the quickest way here
  };
  void add(uint64_t address, uint32_t seen);
  void find_ways();

  std::vector<Moment> moments_;
};

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

  /// Records the body, and ends it at its end mark by a kill. None: `broken` says why.
  static std::optional<Trace> record(const Body& body, const Look& look, std::string& broken);
  /// Runs the body until it has done `step` instructions behind its begin mark, and kills it there.
  static Ended kill_after(const Body& body, const Trace& trace, size_t step);
};

}  // namespace fq::test
