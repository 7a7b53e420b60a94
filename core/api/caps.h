// caps - what an engine can do, and within which bounds: what callers and the contract tests go by instead of
// its name.
#pragma once

// System.
#include <cstdint>
#include <string_view>

namespace fq {

struct Caps {
  bool exact_global_order = false;  // turns are exact over all tenants, not per shard
  bool queue_scope = false;         // scope = queue is taken: one order for the whole queue
  // A message may come after those of any account, and a step wait and push for any; else in its own.
  bool ties_between_accounts = false;
  bool kernel_death_detection = false;  // a dead process's leases come back at once
  int64_t wake_latency_bound_ms = 0;    // of what a wait was not told; may grow with how many wait
  uint32_t fairness_bound = 1;          // turns of an equal tenant between two turns of another
  uint32_t turns_told = 0;    // peek shows ready ones in the order of their turns so far; 0: however far
  bool moves = false;         // messages go from one queue to another
  bool exports = false;       // and to one of another engine
  bool tells_timers = false;  // events caused only by time are told too: see EventPage
  // Events of so long ago are all told; 0: those nobody needs may go. A log is complete from its first on.
  int64_t event_horizon_ms = 0;
  uint64_t payload_bytes_max = UINT64_MAX;  // of a message, whatever max_payload says
  uint32_t shards = 1;                      // see CreateOptions
  uint32_t pool_slack = 0;                  // of a limit over all shards so many may idle while others wait
  std::string_view level = "disk";          // that what is accepted has, unless it is pushed lazily
};

}  // namespace fq
