#include "core/api/settings.h"

// fq, below us.
#include "core/base/tenant_name.h"
// fq, this room.
#include "core/api/message.h"

namespace fq {

namespace {

/// Counts and sizes know no end as their largest value; a PolicyValue says kUnlimited.
template <class T>
int64_t to_number(const T& field) {
  const auto number = static_cast<uint64_t>(field);
  return number > static_cast<uint64_t>(kUnlimited) ? kUnlimited : static_cast<int64_t>(number);
}

template <class T>
void from_number(T& field, int64_t number) {
  field = static_cast<T>(number);
}
void from_number(uint64_t& field, int64_t number) {
  field = number == kUnlimited ? UINT64_MAX : static_cast<uint64_t>(number);
}

}  // namespace

std::optional<PolicyValue> value_of(const Settings& settings, PolicyKey key) {
  std::optional<PolicyValue> found;
  visit_settings(settings, [&](PolicyKey each, const auto& field, const auto&... second) {
    if (each != key) return;
    found.emplace().key = key;
    found->number = to_number(field);
    ((found->second = to_number(second)), ...);
  });
  return found;
}

std::string_view policy_value_fault(const PolicyValue& value) {
  constexpr int64_t kWeightMostMilli = 1'000'000;
  constexpr int64_t kWeightLeastMilli = 100;
  const bool in_range = value.number >= 0 && value.second >= 0;
  if (!in_range) return "has a setting below zero";
  switch (value.key) {
    case PolicyKey::order:
      return value.number <= static_cast<int64_t>(Order::key) ? "" : "has no such order";
    case PolicyKey::scope:
      return value.number <= static_cast<int64_t>(Scope::queue) ? "" : "has no such scope";
    case PolicyKey::fair_by:
      return value.number <= static_cast<int64_t>(FairBy::time) ? "" : "has no such fair_by";
    case PolicyKey::sync:
      return value.number <= static_cast<int64_t>(SyncMode::lazy) ? "" : "has no such sync";
    case PolicyKey::attempts:
      return value.number >= 1 && value.number <= int64_t{kAttemptsMax} ? "" : "has attempts of 1 to 65535";
    case PolicyKey::weight:
      return value.number >= kWeightLeastMilli && value.number <= kWeightMostMilli
                 ? ""
                 : "has a weight of 0.1 to 1000";
    case PolicyKey::pool:
      return value.text.empty() || queue_name_fault(value.text).empty() ? ""
                                                                        : "has a pool without a usable name";
    case PolicyKey::rate:
      return value.number == kUnlimited || (value.number > 0 && value.second > 0) ? "" : "has an empty rate";
    case PolicyKey::concurrency:
    case PolicyKey::burst:
    case PolicyKey::batch:
      return value.number >= 1 ? "" : "has a count of none";
    default:
      return "";
  }
}

PolicyValues values_of(const Settings& settings) {
  PolicyValues values;
  visit_settings(settings,
                 [&](PolicyKey key, const auto&...) { values.push_back(*value_of(settings, key)); });
  return values;
}

void take_over(Settings& settings, const PolicyValues& values) {
  for (const PolicyValue& value : values) {
    visit_settings(settings, [&](PolicyKey key, auto& field, auto&... second) {
      if (key != value.key) return;
      from_number(field, value.number);
      (from_number(second, value.second), ...);
    });
  }
}

}  // namespace fq
