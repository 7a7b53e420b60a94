// policy - the policy of queues and tenants: values under keys, as fq.toml and `set` write them.
//
// A value may come from three places: the default, the policy file, and a setting at run time, which wins.
// The file is given to a queue as a Policy, already narrowed down to that queue; the engine finds in it the
// values that hold for a node of the tenant tree.
#pragma once

// System.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

/// On disk: add at the end, never renumber, never reuse.
enum class PolicyKey : uint8_t {
  order = 1,  // of queues: as Order, Scope, FairBy, SyncMode
  scope = 2,
  fair_by = 3,
  sync = 4,
  linger = 5,  // durations in ms; "none" is 0, "unlimited" is kUnlimited
  timeout = 6,
  lease = 7,
  retention = 8,
  dead_retention = 9,
  lock_timeout = 10,
  backoff = 11,  // number: the base, second: the most
  batch = 12,
  attempts = 13,  // second: 1: the default, which is another one for command messages
  max_payload = 14,
  max_messages = 15,  // of queues and tenants
  max_bytes = 16,
  concurrency = 17,  // also of pools
  rate = 18,         // number: how many, second: in so many ms; of pools too
  burst = 19,        // of pools too
  weight = 20,       // of tenants, in thousandths
  pool = 21,         // of tenants: its name; empty: none
  paused = 22,       // set at run time only: 1
  draining = 23,     // of queues, at run time only: 1
  limited = 24,      // of tenants, the same: nothing starts for so many ms (on disk: until this wall time)
  command_age = 25,  // of queues on a server: how old the signature of a command may be
};
inline constexpr PolicyKey kLastPolicyKey = PolicyKey::command_age;
inline constexpr int64_t kUnlimited = INT64_MAX;

/// Runs that count, where neither the message nor the worker nor the queue's policy says how many.
inline constexpr uint32_t kStandardAttempts = 5;
inline constexpr uint32_t kStandardCommandAttempts = 1;  // of command messages: a failed one is not run again
constexpr uint32_t standard_attempts(bool is_command) {
  return is_command ? kStandardCommandAttempts : kStandardAttempts;
}

enum class Scope : uint32_t { tenant, queue };
enum class FairBy : uint32_t { turns, bytes, time };

struct PolicyValue {
  PolicyKey key{};
  int64_t number = 0;
  int64_t second = 0;
  std::string text;
  bool operator==(const PolicyValue&) const = default;
};
using PolicyValues = std::vector<PolicyValue>;  // each key once

/// The values that `[queue.X.tenant.PATTERN]` sets for the nodes whose path the pattern matches.
struct TenantRule {
  std::string pattern;
  PolicyValues values;
};

struct PoolRule {
  std::string name;
  PolicyValues values;  // concurrency, rate, burst
};

/// The policy file, for one queue. Of two rules that match and set the same key the later one holds.
struct Policy {
  PolicyValues queue;
  std::vector<TenantRule> tenants;
  std::vector<PoolRule> pools;
};

/// A change at run time: values in `set` hold from now on, keys in `unset` are as the file has them again.
struct PolicyPatch {
  PolicyValues set;
  std::vector<PolicyKey> unset;
};

inline PolicyPatch limited_for(int64_t ms) { return {{{PolicyKey::limited, ms, 0, {}}}, {}}; }
inline PolicyPatch limited_no_more() { return {{}, {PolicyKey::limited}}; }

/// The values set at run time for one tenant, or with an empty path for the queue.
struct PolicyOverride {
  std::string path;
  PolicyValues values;
};

}  // namespace fq
