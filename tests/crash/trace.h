// trace - what a process did between two marks, an instruction a step.
//
// A body is run in a forked child: what it does between begin_mark() and end_mark() is looked at, the rest is
// its preparation. The child records itself: the processor's trap flag calls a handler of its own after each
// instruction, which is several times as fast as a tracer would be. A system call is one step, and so is an
// instruction that fills or copies a stretch of bytes. The child comes from the test program itself, so the
// steps are fq's and the C library's own, none of a dynamic linker's, and are the same each time where the
// body's world is the same.
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

/// Traps, for whoever traces the process, unless it records itself.
void begin_mark();
void end_mark();
bool is_end_mark(uint64_t address);
/// For a person with addr2line.
std::string place_of(uint64_t address);

using Body = std::function<void()>;
/// What the caller wants to know of each moment. Runs in the child: neither allocates nor calls the system.
using Look = std::function<uint32_t(pid_t child)>;

class Trace {
 public:
  struct Moment {
    uint64_t address;     // of the next instruction
    uint32_t seen;        // by the Look
    uint32_t passes = 0;  // of this address before
    uint32_t anchor = 0;  // the step to which a breakpoint leads on the quickest way here
  };

  /// Runs the body once. None: it did not come to its end mark.
  static std::optional<Trace> of(const Body& body, const Look& look);

  /// How many instructions there are: a body can be killed after 0 to steps() of them.
  size_t steps() const { return moments_.size() - 1; }
  const Moment& operator[](size_t step) const { return moments_[step]; }

 private:
  void find_ways();
  std::vector<Moment> moments_;
};

/// Of an instruction that fills or copies a stretch of bytes: how long it is itself; 0: it is another one.
uint64_t length_of_repeated(const uint8_t* code);

}  // namespace fq::test
