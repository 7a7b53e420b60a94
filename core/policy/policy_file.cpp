#include "core/policy/policy_file.h"

// System.
#include <algorithm>
#include <iterator>
#include <tuple>
// fq, below us.
#include "core/api/settings.h"
#include "core/base/text/escape.h"
#include "core/base/text/pattern.h"
// fq, this room.
#include "core/policy/covering_tables.h"
#include "core/policy/policy_value.h"

namespace fq {

namespace {

/// Least exact first; places are all different, so nothing is equal.
bool less_exact(const FileRule& a, const FileRule& b) {
  const auto exactness = [](const FileRule& rule) {
    const auto stars = static_cast<size_t>(std::count(rule.name.begin(), rule.name.end(), '*'));
    return std::tuple(stars == 0, rule.name.size() - stars, rule.place);
  };
  return exactness(a) < exactness(b);
}

/// Later values stand in for earlier ones of the same key.
void lay_over(std::vector<FileValue>& to, const std::vector<FileValue>& values) {
  for (const FileValue& value : values) {
    const auto there = std::find_if(to.begin(), to.end(),
                                    [&](const FileValue& each) { return each.value.key == value.value.key; });
    if (there == to.end()) {
      to.push_back(value);
    } else {
      *there = value;
    }
  }
}

void lay_over(SchedulesByName& to, const std::vector<SharedSchedule>& schedules) {
  for (const SharedSchedule& schedule : schedules) to[schedule->definition.name] = schedule;
}

const FileValue* find(const std::vector<FileValue>& values, PolicyKey key) {
  for (const FileValue& value : values) {
    if (value.value.key == key) return &value;
  }
  return nullptr;
}

/// What holds of a key, and where it is said.
struct Holding {
  PolicyValue value;
  uint32_t line;  // 0: nowhere, it is the default

  std::string text() const {
    return "\"" + policy_value_text(value) + "\"" +
           (line != 0 ? " of line " + std::to_string(line) : ", the default");
  }
};

Holding holding(const std::vector<FileValue>& values, PolicyKey key) {
  const FileValue* set = find(values, key);
  return set != nullptr ? Holding{set->value, set->line} : Holding{standard_of(*spec_of(key)), 0};
}

PolicyValues without_lines(const std::vector<FileValue>& values) {
  PolicyValues plain;
  plain.reserve(values.size());
  for (const FileValue& value : values) plain.push_back(value.value);
  return plain;
}

}  // namespace

std::vector<ScheduleDefinition> schedules_of(const FilePolicy& policy) {
  std::vector<ScheduleDefinition> definitions;
  for (const SharedSchedule& each : policy.schedules) definitions.push_back(each->definition);
  return definitions;
}

Policy without_lines(const FilePolicy& policy) {
  Policy plain;
  plain.queue = without_lines(policy.queue);
  for (const FileRule& rule : policy.tenants)
    plain.tenants.push_back({rule.name, without_lines(rule.values)});
  for (const FileRule& rule : policy.pools) plain.pools.push_back({rule.name, without_lines(rule.values)});
  return plain;
}

Result<PolicyFile> PolicyFile::parse(std::string_view text, const std::string& path) {
  PolicyFile file(path);
  FQ_TRY_SET(file.queues_, read_policy_tables(text, path));
  std::sort(file.queues_.begin(), file.queues_.end(),
            [](const FileQueue& a, const FileQueue& b) { return less_exact(a.queue, b.queue); });
  for (FileQueue& queue : file.queues_) std::sort(queue.tenants.begin(), queue.tenants.end(), less_exact);
  FQ_TRY(file.check_pools());
  FQ_TRY(file.check_tables());
  return file;
}

Result<FilePolicy> PolicyFile::for_queue(std::string_view queue) const {
  FilePolicy policy;
  std::map<std::string_view, FileRule> pools;
  SchedulesByName schedules;
  for (const FileQueue& each : queues_) {
    if (!pattern_matches(each.queue.name, queue)) continue;
    lay_over(policy.queue, each.queue.values);
    policy.tenants.insert(policy.tenants.end(), each.tenants.begin(), each.tenants.end());
    lay_over(schedules, each.schedules);
    for (const FileRule& pool : each.pools) {
      FileRule& known = pools.try_emplace(pool.name, FileRule{pool.name, pool.place, {}}).first->second;
      lay_over(known.values, pool.values);
    }
  }
  FQ_TRY(check_order(policy.queue));
  FQ_TRY(check_schedules(policy.queue, schedules));
  for (auto& [name, schedule] : schedules) policy.schedules.push_back(std::move(schedule));
  for (auto& [name, pool] : pools) policy.pools.push_back(std::move(pool));
  return policy;
}

bool PolicyFile::has_table_of(std::string_view queue) const {
  return std::any_of(queues_.begin(), queues_.end(),
                     [&](const FileQueue& each) { return each.queue.name == queue; });
}

/// A tenant's pool must be there in every queue that its table is for.
Result<void> PolicyFile::check_pools() const {
  std::map<std::string_view, CoveringTables> defined;
  for (const FileQueue& queue : queues_) {
    for (const FileRule& pool : queue.pools) defined[pool.name].add(queue);
  }
  for (const FileQueue& queue : queues_) {
    std::string_view good;  // many tenants name one pool
    for (const FileRule& tenant : queue.tenants) {
      const FileValue* value = find(tenant.values, PolicyKey::pool);
      if (value == nullptr || value->value.text.empty() || value->value.text == good) continue;
      const std::string& name = value->value.text;
      const auto tables = defined.find(name);
      if (tables == defined.end() || tables->second.of(queue.queue.name).empty()) {
        return policy_fault(path_, value->line,
                            "pool: " + in_quotes(name) +
                                " is not defined for all these queues; write [queue.\"" + queue.queue.name +
                                "\".pool." + name + "]");
      }
      good = name;
    }
  }
  return {};
}

/// What tables say of the same thing, each together with what is less exact and holds for all its queues.
Result<void> PolicyFile::check_tables() const {
  CoveringTables patterns;  // a plain name, which comes behind them, takes in no other
  for (const FileQueue& queue : queues_) {
    const std::vector<FileValue>& values = queue.queue.values;
    const PolicyKey keys[] = {PolicyKey::order, PolicyKey::scope, PolicyKey::max_payload};
    const bool sets = std::any_of(std::begin(keys), std::end(keys),
                                  [&](PolicyKey key) { return find(values, key) != nullptr; });
    if (!sets && queue.schedules.empty()) continue;
    std::vector<FileValue> together;
    SchedulesByName schedules;
    for (const FileQueue* each : patterns.of(queue.queue.name)) {
      lay_over(together, each->queue.values);
      lay_over(schedules, each->schedules);
    }
    lay_over(together, queue.queue.values);
    lay_over(schedules, queue.schedules);
    if (queue.queue.name.find('*') != std::string::npos) patterns.add(queue);
    FQ_TRY(check_order(together));
    FQ_TRY(check_schedules(together, schedules));
  }
  return {};
}

Result<void> PolicyFile::check_order(const std::vector<FileValue>& values) const {
  const FileValue* order = find(values, PolicyKey::order);
  const FileValue* scope = find(values, PolicyKey::scope);
  if (order == nullptr || scope == nullptr) return {};
  if (Order{static_cast<uint32_t>(order->value.number)} != Order::fifo) return {};
  if (Scope{static_cast<uint32_t>(scope->value.number)} != Scope::queue) return {};
  const bool scope_is_later = scope->line >= order->line;
  const uint32_t other = scope_is_later ? order->line : scope->line;
  const std::string at =
      other == std::max(scope->line, order->line) ? "" : " of line " + std::to_string(other);
  return policy_fault(path_, std::max(scope->line, order->line),
                      scope_is_later ? "scope: \"queue\" does not go with order = \"fifo\"" + at
                                     : "order: \"fifo\" does not go with scope = \"queue\"" + at);
}

Result<void> PolicyFile::check_schedules(const std::vector<FileValue>& values,
                                         const SchedulesByName& schedules) const {
  for (const auto& [name, schedule] : schedules) {
    FQ_TRY(check_order_of(*schedule, values));
    FQ_TRY(check_payload_of(*schedule, values));
  }
  return {};
}

/// What the order would ignore is refused of a push, too.
Result<void> PolicyFile::check_order_of(const FileSchedule& schedule,
                                        const std::vector<FileValue>& values) const {
  const Holding set = holding(values, PolicyKey::order);
  const Order order{static_cast<uint32_t>(set.value.number)};
  const std::string why = ": would be ignored by order = " + set.text();
  if (order != Order::priority && schedule.priority_line != 0)
    return policy_fault(path_, schedule.priority_line, "priority" + why);
  if (order != Order::key && schedule.key_line != 0)
    return policy_fault(path_, schedule.key_line, "key" + why);
  return {};
}

/// So is what is too long.
Result<void> PolicyFile::check_payload_of(const FileSchedule& schedule,
                                          const std::vector<FileValue>& values) const {
  const Holding most = holding(values, PolicyKey::max_payload);
  const uint64_t bytes = schedule.payload.size();
  if (bytes <= static_cast<uint64_t>(most.value.number)) return {};
  return policy_fault(
      path_, schedule.payload_line,
      "payload: has " + std::to_string(bytes) + " bytes, more than max_payload = " + most.text());
}

}  // namespace fq
