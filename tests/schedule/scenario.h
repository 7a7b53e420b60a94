// scenario - what happens to a simulated queue: who pushes what and when, how long it runs, what is set.
//
// As text, one thing a line; `#` begins a comment, a DUR is as in 250ms, 5s, 1h30m:
//
//   slots N                  so many messages run at a time (default: 1)
//   seed N                   run times are drawn from it (default: 1)
//   fair_by turns|bytes|time                       what turns are counted by (default: turns)
//   stop DUR                 nothing happens after it (default: when all is done)
//   rule PATTERN KEY VALUE [KEY VALUE]...          an entry of the policy file
//   pool NAME KEY VALUE [KEY VALUE]...             likewise
//   at DUR set TENANT KEY VALUE [KEY VALUE]...     as `fq tenant set`; `-` is the whole queue
//   at DUR unset TENANT KEY [KEY]...
//   at DUR push TENANT COUNT [run DUR|DUR..DUR] [bytes N|N..N] [delay DUR] [fails N] [every DUR times N]
//                            [tenants N]
//
//   KEY VALUE is one of: weight 0.1, concurrency 2, rate 10/1s, burst 5, pool NAME, paused yes,
//   limited DUR.
//   run      a message runs as long, or evenly between the two (default: no time)
//   bytes    a payload is as long, likewise (default: empty)
//   delay    from the push on
//   fails    so many runs of each message fail, and it comes back at once
//   every    the push is repeated after DUR, N times in all
//   tenants  the push is made for N tenants: `{}` in the name is 0 to N-1
#pragma once

// System.
#include <string>
#include <vector>
// fq, below us.
#include "core/base/policy.h"

namespace fq::test {

struct Scenario {
  struct Push {
    int64_t at_ms = 0;
    std::string tenant;
    uint32_t count = 1;
    int64_t run_min_ms = 0, run_max_ms = 0;
    uint32_t bytes_min = 0, bytes_max = 0;
    int64_t delay_ms = 0;
    uint32_t fails = 0;
    int64_t every_ms = 0;
    uint32_t times = 1;
    uint32_t tenants = 1;
  };
  struct Change {
    int64_t at_ms = 0;
    std::string tenant;
    PolicyPatch patch;  // `limited` as the span
  };

  uint32_t slots = 1;
  uint64_t seed = 1;
  FairBy fair_by = FairBy::turns;
  int64_t stop_ms = INT64_MAX;
  std::vector<TenantRule> rules;
  std::vector<PoolRule> pools;
  std::vector<Push> pushes;
  std::vector<Change> changes;
};

/// Throws std::runtime_error that names the line.
Scenario parse_scenario(const std::string& text);
/// Parses back to the same.
std::string to_text(const Scenario& scenario);

}  // namespace fq::test
