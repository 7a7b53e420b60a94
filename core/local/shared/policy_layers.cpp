#include "core/local/shared/policy_layers.h"

// System.
#include <array>

namespace fq {

namespace {

constexpr size_t kNumbersMax = 32;

uint64_t bit_of(PolicyKey key) { return uint64_t{1} << static_cast<uint8_t>(key); }

/// Whether this value is for the queue as a whole rather than for a node of its tree.
bool is_of_queue(PolicyKey key) {
  return key == PolicyKey::draining || value_of(Settings{}, key).has_value();
}

/// What holds changes together with the layer that it comes from.
void put_together(Txn& txn, SegmentHeader& header) {
  Settings settings = settings_of(header.policy.file);
  take_over(settings, run_time_values(header));
  store_settings(txn, header.settings, settings);
  // With fifo there is no order that could reach across tenants.
  const Scope scope = settings.order == Order::fifo ? Scope::tenant : settings.scope;
  const bool ages = settings.order == Order::priority;
  store_terms(txn, header.schedule, {scope, ages, settings.fair_by, settings.linger_ms, settings.batch_max});
}

}  // namespace

void store_settings(Txn& txn, SharedSettings& shared, const Settings& settings) {
  // Number by number: visit_settings gives those of both in the same order.
  std::array<uint64_t, kNumbersMax> numbers{};
  size_t count = 0;
  const auto note = [&](const auto& field) { numbers[count++] = static_cast<uint64_t>(field); };
  visit_settings(settings, [&](PolicyKey, const auto&... fields) { (note(fields), ...); });
  size_t i = 0;
  const auto store = [&]<class T>(Shared<T>& field) { put(txn, field, static_cast<T>(numbers[i++])); };
  visit_settings(shared, [&](PolicyKey, auto&... fields) { (store(fields), ...); });
}

Settings settings_of(const SharedSettings& shared) {
  std::array<uint64_t, kNumbersMax> numbers{};
  size_t count = 0;
  const auto note = [&](const auto& field) { numbers[count++] = static_cast<uint64_t>(field.get()); };
  visit_settings(shared, [&](PolicyKey, const auto&... fields) { (note(fields), ...); });
  Settings settings;
  size_t i = 0;
  const auto take = [&]<class T>(T& field) { field = static_cast<T>(numbers[i++]); };
  visit_settings(settings, [&](PolicyKey, auto&... fields) { (take(fields), ...); });
  return settings;
}

void store_file_layer(Txn& txn, SegmentHeader& header, const Settings& file) {
  store_settings(txn, header.policy.file, file);
  put_together(txn, header);
}

void patch_run_time_layer(Txn& txn, SegmentHeader& header, const PolicyPatch& patch) {
  SharedPolicy& policy = header.policy;
  Settings run_time = settings_of(policy.run_time);
  take_over(run_time, patch.set);
  store_settings(txn, policy.run_time, run_time);
  uint64_t keys = policy.run_time_keys;
  for (const PolicyValue& value : patch.set) {
    if (is_of_queue(value.key)) keys |= bit_of(value.key);
  }
  for (const PolicyKey key : patch.unset) keys &= ~bit_of(key);
  put(txn, policy.run_time_keys, keys);
  put(txn, policy.draining, (keys & bit_of(PolicyKey::draining)) != 0 ? 1u : 0u);
  put_together(txn, header);
}

PolicyValues run_time_values(const SegmentHeader& header) {
  const uint64_t keys = header.policy.run_time_keys;
  PolicyValues values;
  if (keys == 0) return values;
  for (PolicyValue& value : values_of(settings_of(header.policy.run_time))) {
    if ((keys & bit_of(value.key)) != 0) values.push_back(std::move(value));
  }
  if ((keys & bit_of(PolicyKey::draining)) != 0) values.push_back({PolicyKey::draining, 1, 0, {}});
  return values;
}

FileIdentity policy_file_of(const SharedPolicy& policy) {
  return {policy.file_device, policy.file_inode, policy.file_size, policy.file_changed_ns,
          policy.file_modified_ns, policy.file_for_queue};
}

void store_policy_file(Txn& txn, SharedPolicy& policy, const FileIdentity& file) {
  txn.set(policy.file_device, file.device);
  txn.set(policy.file_inode, file.inode);
  txn.set(policy.file_size, file.size);
  txn.set(policy.file_changed_ns, file.changed_ns);
  txn.set(policy.file_modified_ns, file.modified_ns);
  txn.set(policy.file_for_queue, file.for_queue);
}

}  // namespace fq
