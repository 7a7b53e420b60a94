// fake_clock - time that stands still until a test moves it.
//
// boot_ms and wall_ms are set apart, so that a test can step the wall clock (ntp, a person, a reboot)
// while boot time goes on. Starts at values that are easy to tell apart and far from zero. Threads of a
// test may share one: whoever attaches looks at both clocks while others work.
#pragma once

#include <atomic>

// fq, below us.
#include "core/base/clock.h"

namespace fq::test {

class FakeClock final : public Clock {
 public:
  int64_t boot_ms() override {
    advance(look_ms_);
    return boot_ms_;
  }
  int64_t wall_ms() override { return wall_ms_; }

  /// Time goes by, on both clocks.
  void advance(int64_t ms) {
    boot_ms_ += ms;
    wall_ms_ += ms;
  }
  /// From now on each look at boot time takes so long.
  void takes(int64_t ms) { look_ms_ = ms; }
  void set_boot_ms(int64_t ms) { boot_ms_ = ms; }
  void set_wall_ms(int64_t ms) { wall_ms_ = ms; }

 private:
  std::atomic<int64_t> look_ms_ = 0;
  std::atomic<int64_t> boot_ms_ = 1'000'000;
  std::atomic<int64_t> wall_ms_ = 1'700'000'000'000;
};

}  // namespace fq::test
