#include "cli/policy/policy_layers.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/text/pattern.h"
// fq, this room.
#include "core/policy/policy_value.h"

namespace fq::cli {

namespace {

constexpr size_t kOverridesPage = 1024;  // overrides in one turn: arbitrary

std::vector<HeldValue> standards(PolicyNode node) {
  std::vector<HeldValue> values;
  for (const PolicyKeySpec& spec : policy_keys()) {
    if ((spec.nodes & node) != 0) values.push_back({standard_of(spec), Layer::standard, 0, {}});
  }
  return values;
}

void lay_over(std::vector<HeldValue>& values, HeldValue over) {
  for (HeldValue& each : values) {
    if (each.value.key == over.value.key) {
      each = std::move(over);
      return;
    }
  }
  values.push_back(std::move(over));
}

void lay_over(std::vector<HeldValue>& values, const std::vector<FileValue>& over, std::string_view pattern) {
  for (const FileValue& value : over) lay_over(values, {value.value, Layer::file, value.line, pattern});
}

}  // namespace

PolicyLayers::PolicyLayers(FilePolicy file, std::vector<PolicyOverride> overrides) : file_(std::move(file)) {
  for (PolicyOverride& each : overrides) overrides_[std::move(each.path)] = std::move(each.values);
  for (size_t i = 0; i < file_.tenants.size(); ++i) {
    const std::string_view prefix = pattern_prefix(file_.tenants[i].name);
    rules_by_prefix_[prefix].push_back(i);
    prefix_lengths_.insert(prefix.size());
  }
}

std::vector<HeldValue> PolicyLayers::of_queue(const Settings* last_good) const {
  std::vector<HeldValue> values = standards(kQueueNode);
  lay_over(values, file_.queue, {});
  if (last_good != nullptr) {
    std::erase_if(values, [&](HeldValue& held) {
      std::optional<PolicyValue> value = value_of(*last_good, held.value.key);
      if (value) held = {*value, Layer::last_good, 0, {}};
      return !value;
    });
  }
  add_overrides("", values);
  return values;
}

std::vector<HeldValue> PolicyLayers::of_tenant(std::string_view path) const {
  std::vector<HeldValue> values = standards(kTenantNode);
  for (const FileRule* rule : rules_for(path)) lay_over(values, rule->values, rule->name);
  add_overrides(path, values);
  return values;
}

std::vector<HeldValue> PolicyLayers::of_pool(std::string_view name) const {
  std::vector<HeldValue> values;
  for (const FileRule& pool : file_.pools) {
    if (pool.name != name) continue;
    values = standards(kPoolNode);
    lay_over(values, pool.values, {});
  }
  return values;
}

const PolicyValue* PolicyLayers::find_override(std::string_view path, PolicyKey key) const {
  const auto found = overrides_.find(path);
  if (found == overrides_.end()) return nullptr;
  for (const PolicyValue& value : found->second) {
    if (value.key == key) return &value;
  }
  return nullptr;
}

/// Least exact first.
std::vector<const FileRule*> PolicyLayers::rules_for(std::string_view path) const {
  std::vector<size_t> places;
  for (const size_t length : prefix_lengths_) {
    if (length > path.size()) break;
    const auto found = rules_by_prefix_.find(path.substr(0, length));
    if (found == rules_by_prefix_.end()) continue;
    for (const size_t place : found->second) {
      if (pattern_matches(file_.tenants[place].name, path)) places.push_back(place);
    }
  }
  std::sort(places.begin(), places.end());
  std::vector<const FileRule*> rules;
  for (const size_t place : places) rules.push_back(&file_.tenants[place]);
  return rules;
}

void PolicyLayers::add_overrides(std::string_view path, std::vector<HeldValue>& values) const {
  const auto found = overrides_.find(path);
  if (found == overrides_.end()) return;
  for (const PolicyValue& value : found->second) lay_over(values, {value, Layer::run_time, 0, {}});
}

Result<std::vector<PolicyOverride>> all_overrides(Queue& queue) {
  std::vector<PolicyOverride> all;
  Cursor from;
  do {
    FQ_TRY_SET(OverridePage page, queue.policy_overrides(from, kOverridesPage));
    for (PolicyOverride& each : page.overrides) all.push_back(std::move(each));
    from = std::move(page.next);
  } while (!from.text.empty());
  return all;
}

std::vector<std::string_view> nodes_above(std::string_view path) {
  std::vector<std::string_view> nodes;
  for (size_t slash = path.rfind('/'); slash != path.npos; slash = path.rfind('/')) {
    path = path.substr(0, slash);
    nodes.push_back(path);
  }
  return nodes;
}

}  // namespace fq::cli
