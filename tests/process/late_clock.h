// late_clock - schedules whose time has passed when the next process looks: they were set by a clock that is
// behind.
#pragma once

// Tests.
#include "tests/process/real_fq.h"

namespace fq::test {

constexpr int64_t kBehindMinuteMs = 60'000;

/// The system's, but its wall is so far behind.
class LateClock final : public Clock {
 public:
  explicit LateClock(int64_t behind_ms) : behind_ms_(behind_ms) {}
  int64_t boot_ms() override { return system_clock().boot_ms(); }
  int64_t wall_ms() override { return system_clock().wall_ms() - behind_ms_; }

 private:
  int64_t behind_ms_;
};

inline std::unique_ptr<Queue> open_behind(const Spool& spool, LateClock& clock) {
  OpenOptions options;
  options.create = true;
  options.clock = &clock;
  return std::move(open_queue({spool.path(), "default"}, options)).value();
}

inline void set_late(Queue& queue, const char* payload, OverlapRule overlap = OverlapRule::skip) {
  ScheduleDefinition definition;
  definition.name = "hourly";
  definition.spec = "every 1h";
  definition.overlap = overlap;
  definition.message.payload = as_bytes(std::string_view(payload));
  REQUIRE(queue.schedules()->set(definition).ok());
}

}  // namespace fq::test
