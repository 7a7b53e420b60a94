#include "core/base/clock.h"

// System.
#include <ctime>

namespace fq {

namespace {

int64_t read_ms(clockid_t which) {
  timespec now{};
  ::clock_gettime(which, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

class SystemClock final : public Clock {
 public:
  int64_t boot_ms() override { return read_ms(CLOCK_BOOTTIME); }
  int64_t wall_ms() override { return read_ms(CLOCK_REALTIME); }
};

}  // namespace

Clock& system_clock() {
  static SystemClock clock;
  return clock;
}

}  // namespace fq
