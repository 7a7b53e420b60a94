// deadline - a point in time for the kernel to wait until.
//
// By the monotonic clock: a stepped wall clock neither cuts a wait short nor makes it endless.
#pragma once

// System.
#include <cstdint>
#include <ctime>

namespace fq {

inline timespec deadline_after(int64_t timeout_ms, clockid_t clock = CLOCK_MONOTONIC) {
  timespec until{};
  ::clock_gettime(clock, &until);
  until.tv_sec += timeout_ms / 1000;
  until.tv_nsec += (timeout_ms % 1000) * 1'000'000;
  if (until.tv_nsec >= 1'000'000'000) {
    until.tv_nsec -= 1'000'000'000;
    ++until.tv_sec;
  }
  return until;
}

}  // namespace fq
