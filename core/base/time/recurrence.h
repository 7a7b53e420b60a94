// recurrence - when something is to happen again and again: cron's fields in a time zone, or `every DUR`.
//
// A local time that a clock change leaves out is the moment of the change, and one that comes twice is the
// first of the two; where the hour is `*` or `*/n` real time counts, so that neither is left out or doubled.
#pragma once

// System.
#include <cstdint>
#include <optional>
#include <string_view>
// fq, this room.
#include "core/base/time/cron.h"
#include "core/base/time/zone.h"

namespace fq {

inline constexpr int64_t kShortestIntervalMs = 1000;

class Recurrence {
 public:
  /// ErrorKind::bad_data says what is wrong.
  static Result<Recurrence> parse(std::string_view spec);

  /// The first time after `wall_ms`; none: there is none that any person will see. `anchor_ms`: from where an
  /// `every` counts.
  std::optional<int64_t> next(int64_t wall_ms, const Zone& zone, int64_t anchor_ms) const;
  /// The last time after `from_ms` up to `to_ms`.
  std::optional<int64_t> last(int64_t from_ms, int64_t to_ms, const Zone& zone, int64_t anchor_ms) const;
  /// An `every` needs no zone.
  bool is_interval() const { return interval_ms_ != 0; }

 private:
  std::optional<int64_t> next_by_clock(int64_t after_s, const Zone& zone) const;
  std::optional<int64_t> next_by_real_time(int64_t after_s, const Zone& zone) const;

  int64_t interval_ms_ = 0;  // 0: by `cron_`
  Cron cron_;
};

}  // namespace fq
