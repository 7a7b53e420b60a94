#include "core/api/settings.h"

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

PolicyValues values_of(const Settings& settings) {
  PolicyValues values;
  visit_settings(settings,
                 [&](PolicyKey key, const auto&...) { values.push_back(*value_of(settings, key)); });
  return values;
}

void apply(Settings& settings, const PolicyValues& values) {
  for (const PolicyValue& value : values) {
    visit_settings(settings, [&](PolicyKey key, auto& field, auto&... second) {
      if (key != value.key) return;
      from_number(field, value.number);
      (from_number(second, value.second), ...);
    });
  }
}

}  // namespace fq
