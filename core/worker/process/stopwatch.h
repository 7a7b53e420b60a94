// stopwatch - the time that something has run, finer than the clock of the timers.
#pragma once

// System.
#include <chrono>
#include <cstdint>

namespace fq::worker {

class Stopwatch {
 public:
  uint64_t us() const {
    const auto passed = std::chrono::steady_clock::now() - began_;
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(passed).count());
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace fq::worker
