#include "cli/policy/assignment.h"

// System.
#include <algorithm>
#include <array>
// fq, below us.
#include "core/base/text/escape.h"
#include "core/base/text/suggestion.h"
// fq, this room.
#include "core/policy/policy.h"
#include "cli/policy/policy_layers.h"
#include "core/policy/policy_value.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

std::string example_of(PolicyNode node) {
  return node == kQueueNode ? "write for instance attempts=3" : "write for instance weight=2";
}

void forget(PolicyPatch& patch, PolicyKey key) {
  std::erase(patch.unset, key);
  std::erase_if(patch.set, [key](const PolicyValue& value) { return value.key == key; });
}

const PolicyValue* find(const PolicyPatch& patch, PolicyKey key) {
  for (const PolicyValue& value : patch.set) {
    if (value.key == key) return &value;
  }
  return nullptr;
}

bool touches(const PolicyPatch& patch, PolicyKey key) {
  return find(patch, key) != nullptr ||
         std::find(patch.unset.begin(), patch.unset.end(), key) != patch.unset.end();
}

int64_t number_of(const std::vector<HeldValue>& values, PolicyKey key) {
  for (const HeldValue& held : values) {
    if (held.value.key == key) return held.value.number;
  }
  return 0;
}

Result<void> check_order(std::string_view object, const PolicyPatch& patch, Queue& queue,
                         const Result<FilePolicy>& file) {
  FQ_TRY_SET(std::vector<PolicyOverride> overrides, all_overrides(queue));
  FQ_TRY_SET(const Settings settings, queue.settings());
  PolicyValues values;
  for (const PolicyOverride& each : overrides) {
    if (each.path.empty()) values = each.values;
  }
  std::erase_if(values, [&](const PolicyValue& value) { return touches(patch, value.key); });
  values.insert(values.end(), patch.set.begin(), patch.set.end());
  const PolicyLayers layers(file ? *file : FilePolicy(), {{"", std::move(values)}});
  const std::vector<HeldValue> held = layers.of_queue(file ? nullptr : &settings);
  if (Order{static_cast<uint32_t>(number_of(held, PolicyKey::order))} != Order::fifo) return {};
  if (Scope{static_cast<uint32_t>(number_of(held, PolicyKey::scope))} != Scope::queue) return {};
  return usage_error(object, "scope=queue does not go with order=fifo; set the other one too");
}

Result<void> check_pool(std::string_view object, std::string_view pool, const Result<FilePolicy>& file) {
  if (!file) return file.error();
  std::vector<std::string_view> names;
  for (const FileRule& each : file->pools) names.push_back(each.name);
  if (std::find(names.begin(), names.end(), pool) != names.end()) return {};
  const std::string_view near = suggest(pool, names);
  return usage_error(object, "pool: " + in_quotes(pool) + " is not defined for this queue; " +
                                 (near.empty() ? "write its table into fq.toml"
                                               : "did you mean '" + std::string(near) + "'?"));
}

}  // namespace

Result<PolicyPatch> to_patch(std::string_view object, std::span<const std::string> words, PolicyNode node) {
  if (words.empty()) return usage_error(object, "needs KEY=VALUE; " + example_of(node));
  PolicyPatch patch;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const PolicyKeySpec* spec = find_policy_key(name);
    const bool known = spec != nullptr && (spec->nodes & node) != 0;
    if (equals == std::string::npos && !known)
      return usage_error(object, in_quotes(word) + " is not KEY=VALUE; " + example_of(node));
    if (!known) return usage_error(object, unknown_key_text(name, node));
    if (equals == std::string::npos)
      return usage_error(object, name + ": needs a value; write " + name + "=VALUE");
    const std::string text = word.substr(equals + 1);
    forget(patch, spec->key);
    if (text.empty()) {
      patch.unset.push_back(spec->key);
      continue;
    }
    Result<PolicyValue> value = parse_policy_value(*spec, text);
    if (!value) return usage_error(object, name + ": " + value.error().text + ", not " + in_quotes(text));
    patch.set.push_back(std::move(value).value());
  }
  return patch;
}

Result<void> check_patch(std::string_view object, const PolicyPatch& patch, Queue& queue,
                         const Location& location) {
  const PolicyValue* pool = find(patch, PolicyKey::pool);
  const bool names_pool = pool != nullptr && !pool->text.empty();
  const bool orders = touches(patch, PolicyKey::order) || touches(patch, PolicyKey::scope);
  if (!names_pool && !orders) return {};
  const Result<FilePolicy> file = read_policy_for(location);
  if (names_pool) FQ_TRY(check_pool(object, pool->text, file));
  if (orders) FQ_TRY(check_order(object, patch, queue, file));
  return {};
}

}  // namespace fq::cli
