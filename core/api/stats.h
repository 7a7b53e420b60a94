// stats - the numbers that a queue tells of itself: counts, times, rates and shares.
#pragma once

// System.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>
// fq, below us.
#include "core/base/policy.h"
// fq, this room.
#include "core/api/explanation.h"

namespace fq {

/// Times in milliseconds. Of a queue: of all, each within one part in 32 (exact below 32 ms; 0: below 1 ms).
/// Of a tenant: of recent ones, upper bounds that may be twice as long.
struct Percentiles {
  uint64_t count = 0;
  std::optional<int64_t> p50, p90, p99, max;  // none when count is 0
  // Of a queue only.
  uint64_t sum_ms = 0;
  std::vector<uint64_t> by_octave;  // how many: below 1 ms, 1, 2 to 3, 4 to 7 ms, and so on
};

/// Events a second, over the last 1, 5 and 15 minutes; events before the segment was made are not counted.
struct Rates {
  double m1 = 0, m5 = 0, m15 = 0;
};

/// Of a queue, or of one tenant's own messages. Counts are since the queue was made (or, of a tenant,
/// since it was last forgotten or the segment rebuilt from what the journal still holds).
struct StatsRow {
  std::string tenant;  // "" for the queue
  uint64_t ready = 0, delayed = 0, leased = 0, held = 0, dead = 0;
  // Active: with something ready. Parked: those of them that may not be served now, whichever node is in the
  // way.
  uint64_t tenants = 0, active_tenants = 0, parked_tenants = 0;
  std::optional<double> oldest_ready_s;
  uint64_t bytes = 0;  // payload bytes of what is not finished
  uint64_t pushed = 0, popped = 0, acked = 0, retried = 0, released = 0, buried = 0, expired = 0,
           cancelled = 0;
  Percentiles wait_ms, run_ms;
  // Of the queue only.
  std::optional<uint64_t> segment_bytes, journal_bytes;  // none: it has no such file
  uint64_t recoveries = 0;
  uint64_t schedules = 0;
  std::optional<int64_t> next_schedule_wall_ms;  // when the first of them is due
  FairBy fair_by = FairBy::turns;
  bool paused = false, draining = false;
  std::optional<Rates> pushed_per_s, popped_per_s, acked_per_s;
  std::optional<double> jain;  // of what active tenants were given lately, in parts of their entitlement
  // Of a tenant only.
  double weight = 1.0;
  // Keeps it from being served, if it had something or has: its own or of what is above it.
  std::optional<Reason::Kind> blocked;
  std::optional<double> share;  // its part of the turns while all active ones stay so: its entitlement
  // Its part of what active tenants were given lately, in what turns are paid by; none while it is not
  // active.
  std::optional<double> served_share;
};

struct StatsRequest {
  bool tenants = false;  // a row a tenant instead of the queue's one
  std::string tenant;    // only this one and below
};

struct StatsReply {
  std::vector<StatsRow> rows;
  int64_t as_of_wall_ms = 0;
};

}  // namespace fq
