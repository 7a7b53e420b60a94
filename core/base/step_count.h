// step_count - the steps of an operation: the elements of shared arrays and the records that it looks at.
//
// In a release build nothing is counted. In a test build each thread counts for itself, and knows the most
// steps that it has made under one hold of a lock. Tests hold that against the work that an operation has to
// do, so that they tell growth without a clock.
#pragma once

// System.
#include <algorithm>
#include <cstdint>

#ifdef FQ_FAULT_POINTS
namespace fq {

struct StepCount {
  static inline constinit thread_local uint64_t steps = 0;
  static inline constinit thread_local uint64_t hold_began = 0;
  static inline constinit thread_local uint64_t hold_most = 0;
  /// The steps that are work for all processes, done by the one that comes by: written records pay for it.
  static inline constinit thread_local uint64_t shared = 0;

  static void begin_hold() { hold_began = steps; }
  static void end_hold() { hold_most = std::max(hold_most, steps - hold_began); }
};

/// While this lives, steps are of shared work too.
class SharedSteps {
 public:
  SharedSteps() : began_(StepCount::steps) {}
  ~SharedSteps() { StepCount::shared += StepCount::steps - began_; }
  SharedSteps(const SharedSteps&) = delete;
  SharedSteps& operator=(const SharedSteps&) = delete;

 private:
  const uint64_t began_;
};

}  // namespace fq
#define FQ_STEPS_ARE_SHARED() const ::fq::SharedSteps shared_steps
#define FQ_STEPS(count) (::fq::StepCount::steps += (count))
#define FQ_HOLD_BEGINS() ::fq::StepCount::begin_hold()
#define FQ_HOLD_ENDS() ::fq::StepCount::end_hold()
#else
#define FQ_STEPS_ARE_SHARED() static_cast<void>(0)
#define FQ_STEPS(count) static_cast<void>(0)
#define FQ_HOLD_BEGINS() static_cast<void>(0)
#define FQ_HOLD_ENDS() static_cast<void>(0)
#endif
