// settings - the policy of one queue, after all layers were put together, and where it came from.
#pragma once

// System.
#include <cstdint>
// fq, below us.
#include "core/base/policy.h"

namespace fq {

enum class Order : uint32_t { priority, fifo, key };
enum class SyncMode : uint32_t { always, lazy };

/// `retention = "auto"`: no duration that a person can write.
inline constexpr int64_t kRetentionAuto = kUnlimited;
inline constexpr int64_t kRetentionOfCommandsMs = 7 * 86'400'000;

/// How long a message that says nothing of it itself is told of after its end; 0: not at all.
inline int64_t retention_of(int64_t retention_ms, bool is_command) {
  if (retention_ms != kRetentionAuto) return retention_ms;
  return is_command ? kRetentionOfCommandsMs : 0;
}

/// They were not set: command messages have others.
template <class AnySettings>
bool has_standard_attempts(const AnySettings& settings) {
  return settings.attempts_by_kind != 0 && settings.attempts_max == kStandardAttempts;
}
/// As a lease is told of them; 0: by the message's kind.
template <class AnySettings>
uint32_t attempts_set(const AnySettings& settings) {
  return has_standard_attempts(settings) ? 0 : uint32_t{settings.attempts_max};
}
/// Of a message that has no attempts of its own, by the queue's settings.
template <class AnySettings>
uint32_t attempts_of(const AnySettings& settings, bool is_command) {
  return has_standard_attempts(settings) ? standard_attempts(is_command) : uint32_t{settings.attempts_max};
}

/// The settings of a queue, plain or as they lie in shared memory, where nothing starts with a default. Of
/// the whole queue: limits on its tenants together (concurrency, rate, ...) hold at the top of their tree and
/// are not here.
template <template <class> class Field>
struct SettingFields {
  Field<Order> order{Order::priority};
  Field<Scope> scope{Scope::tenant};
  Field<FairBy> fair_by{FairBy::turns};
  Field<SyncMode> sync{SyncMode::always};
  Field<int64_t> linger_ms{0};            // 0: none
  Field<uint64_t> batch_max{UINT64_MAX};  // of a group
  Field<int64_t> lease_ms{60'000};
  Field<uint32_t> attempts_max{kStandardAttempts};
  Field<uint32_t> attempts_by_kind{1};  // 1: attempts_max was not set, see attempts_of()
  Field<uint64_t> payload_bytes_max{uint64_t{1} << 30};
  Field<int64_t> lock_timeout_ms{5'000};
  Field<int64_t> timeout_ms{0};  // of a run in a worker; 0: none
  Field<int64_t> backoff_base_ms{5'000};
  Field<int64_t> backoff_max_ms{3'600'000};
  Field<int64_t> retention_ms{kRetentionAuto};  // of records and outputs, after the end; 0: none
  Field<int64_t> dead_retention_ms{kUnlimited};
  Field<int64_t> command_age_ms{7 * 86'400'000};  // of a command's signature; only where commands are signed

  bool operator==(const SettingFields&) const = default;
};

template <class T>
using Plain = T;

using Settings = SettingFields<Plain>;

/// Calls `visit(key, field)`, or with the second field where a value has two, for every value of any
/// SettingFields.
template <class AnySettings, class Visit>
void visit_settings(AnySettings&& settings, Visit&& visit) {
  visit(PolicyKey::order, settings.order);
  visit(PolicyKey::scope, settings.scope);
  visit(PolicyKey::fair_by, settings.fair_by);
  visit(PolicyKey::sync, settings.sync);
  visit(PolicyKey::linger, settings.linger_ms);
  visit(PolicyKey::batch, settings.batch_max);
  visit(PolicyKey::lease, settings.lease_ms);
  visit(PolicyKey::attempts, settings.attempts_max, settings.attempts_by_kind);
  visit(PolicyKey::max_payload, settings.payload_bytes_max);
  visit(PolicyKey::lock_timeout, settings.lock_timeout_ms);
  visit(PolicyKey::timeout, settings.timeout_ms);
  visit(PolicyKey::backoff, settings.backoff_base_ms, settings.backoff_max_ms);
  visit(PolicyKey::retention, settings.retention_ms);
  visit(PolicyKey::dead_retention, settings.dead_retention_ms);
  visit(PolicyKey::command_age, settings.command_age_ms);
}

/// The value that this key has, none for a key that is not of Settings.
std::optional<PolicyValue> value_of(const Settings& settings, PolicyKey key);
/// The fault of a value, whatever it is for; "" when it has none.
std::string_view policy_value_fault(const PolicyValue& value);
/// All of them.
PolicyValues values_of(const Settings& settings);
/// Takes over those of `values` that are of Settings.
void take_over(Settings& settings, const PolicyValues& values);

/// Tells one state of the policy file from another without reading it, and what it says for one queue's name
/// from what it says for another's. All zero: there is no file.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size = 0;
  int64_t changed_ns = 0;  // ctime: a file put in place by rename keeps its mtime
  int64_t modified_ns = 0;
  uint64_t for_queue = 0;  // a sum of the name: a renamed queue keeps its segment, and not what holds

  bool operator==(const FileIdentity&) const = default;
};

}  // namespace fq
