// schedule_times - the decision about a schedule whose time may have come, from its spec, its zone and the
// clock alone.
#pragma once

// System.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/api/schedules.h"
#include "core/api/settings.h"
#include "core/base/clock.h"
#include "core/base/time/recurrence.h"

namespace fq {

class ScheduleTimes {
 public:
  /// `begun_wall_ms`: from where an `every` counts.
  static Result<ScheduleTimes> of(std::string_view spec, std::string_view zone, int64_t begun_wall_ms);

  struct Decision {
    enum class What {
      wait,  // until `next_wall_ms`
      make,  // a message for `at_wall_ms`
      skip,  // `at_wall_ms` and all before it have passed
    } what = What::wait;
    int64_t at_wall_ms = 0;
    int64_t next_wall_ms = kNever;
  };
  /// Times up to here are accounted for: up to `done_wall_ms`, unless the clock that said so was wrong. Then
  /// they go on from now; `next_wall_ms`, which was its next time so far, is not passed over.
  static int64_t accounted(int64_t done_wall_ms, int64_t next_wall_ms, int64_t now_wall_ms);
  /// Times up to `accounted_wall_ms` are accounted for.
  Decision decide(MissedRule missed, int64_t accounted_wall_ms, int64_t now_wall_ms) const;
  /// kNever: there is none any more.
  int64_t next(int64_t wall_ms) const;
  std::vector<int64_t> next_times(int64_t wall_ms, size_t n) const;

 private:
  Recurrence recurrence_;
  Zone zone_;
  int64_t begun_wall_ms_ = 0;
};

/// Whether it can be one: its name, its spec, its zone, and what its message may not have.
Result<void> check_schedule(const ScheduleDefinition& definition, uint64_t payload_bytes_max);
/// All that a policy file has, before the first is taken. Of how long their payloads may be the file is
/// asked, where it is read: what holds here is another limit until it is loaded.
Result<void> check_schedules(std::span<const ScheduleDefinition> definitions);
/// Takes out of what it makes what the order of the queue ignores: that may be another one than when it was
/// set.
void keep_to_order(NewMessage& message, Order order);

}  // namespace fq
