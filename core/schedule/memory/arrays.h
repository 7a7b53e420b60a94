// arrays - the arrays of a schedule, one row each: where an array lies, what a change may need of it, and how
// large it has to be for that.
//
// The table is all that there is to say: growing, making, checking and ArrayName come from it. A new array is
// a field of ScheduleRoot and a row; a new kind of elements is a Supply and a field of Need besides.
#pragma once

// System.
#include <algorithm>
#include <array>
#include <tuple>
// fq, this room.
#include "core/schedule/memory/root.h"

namespace fq {

/// Room that a change may need, at most.
struct Need {
  uint32_t messages = 0;
  uint32_t tenants = 0;
  uint32_t text_cells = 0;
  uint32_t extras = 0;
  uint32_t keys = 0;
  uint32_t controls = 0;  // beside those that rules may give new tenants
  uint32_t rules = 0;
  uint32_t waits = 0;
  uint32_t pools = 0;
  uint32_t schedules = 0;
  uint32_t steps = 0;

  inline Need& operator+=(const Need& more);
  inline bool is_within(const Need& room) const;
};
inline constexpr uint32_t Need::*kNeeds[] = {
    &Need::messages, &Need::tenants, &Need::text_cells, &Need::extras,    &Need::keys, &Need::controls,
    &Need::rules,    &Need::waits,   &Need::pools,      &Need::schedules, &Need::steps};

inline Need& Need::operator+=(const Need& more) {
#pragma GCC unroll 11
  for (const auto field : kNeeds) this->*field += more.*field;
  return *this;
}
inline bool Need::is_within(const Need& room) const {
  return std::ranges::all_of(kNeeds, [&](auto field) { return this->*field <= room.*field; });
}

// Each row has `name` and `array`, and wanted(): the capacity that the array should have so that a need fits.
// 0 where none of it is needed: most pushes need nothing of most arrays, and do not even look at them.

/// Elements that are taken and freed.
template <class Array, class AnySupply>
struct ElementRow {
  const char* name;
  Array ScheduleRoot::*array;
  AnySupply ScheduleRoot::*supply;
  uint32_t Need::*need;
  uint64_t wanted(const ScheduleRoot& root, const Need& needs) const {
    const uint32_t more = needs.*need;
    return more == 0 ? 0 : uint64_t{(root.*supply).used} + more;
  }
};
// As in codec_parts.h: for clang++ 14.
template <class Array, class AnySupply>
ElementRow(const char*, Array ScheduleRoot::*, AnySupply ScheduleRoot::*, uint32_t Need::*)
    -> ElementRow<Array, AnySupply>;

/// The buckets of an index of elements.
template <class Array, class Elements>
struct BucketRow {
  const char* name;
  Array ScheduleRoot::*array;
  Shared<uint32_t> ScheduleRoot::*count;  // in use
  Elements ScheduleRoot::*elements;
  uint32_t Need::*need;
  uint32_t load;
  uint32_t most = UINT32_MAX;
  uint64_t wanted(const ScheduleRoot& root, const Need& needs) const {
    return needs.*need == 0 ? 0 : std::min<uint32_t>(most, (root.*elements).capacity / load);
  }
};
template <class Array, class Elements, class... Loads>
BucketRow(const char*, Array ScheduleRoot::*, Shared<uint32_t> ScheduleRoot::*, Elements ScheduleRoot::*,
          uint32_t Need::*, Loads...) -> BucketRow<Array, Elements>;

/// See A3.
struct HeapRow {
  const char* name = "heap";
  decltype(ScheduleRoot::heap) ScheduleRoot::*array = &ScheduleRoot::heap;
  static uint64_t wanted(const ScheduleRoot& root, const Need& needs) {
    return uint64_t{root.entry_supply.used} + root.tenant_supply.used + root.key_supply.used +
           root.pool_supply.used + root.recurring_supply.used + needs.messages + needs.tenants + needs.keys +
           needs.pools + needs.schedules;
  }
};

/// Each tenant has one, or none has.
struct PlaceRow {
  const char* name = "places";
  decltype(ScheduleRoot::places) ScheduleRoot::*array = &ScheduleRoot::places;
  static uint64_t wanted(const ScheduleRoot& root, const Need& needs) {
    const bool any = root.places_used != 0 || needs.pools != 0 || root.terms.scope == Scope::queue;
    return any ? root.tenants.capacity.get() : 0;
  }
};

/// Those of every queue, in the order of their first chunks.
inline constexpr std::tuple kFirstRows{
    ElementRow{"entries", &ScheduleRoot::entries, &ScheduleRoot::entry_supply, &Need::messages},
    BucketRow{"id_buckets", &ScheduleRoot::id_buckets, &ScheduleRoot::id_bucket_count, &ScheduleRoot::entries,
              &Need::messages, 2},
    ElementRow{"tenants", &ScheduleRoot::tenants, &ScheduleRoot::tenant_supply, &Need::tenants},
    BucketRow{"tenant_buckets", &ScheduleRoot::tenant_buckets, &ScheduleRoot::tenant_bucket_count,
              &ScheduleRoot::tenants, &Need::tenants, 1},
    ElementRow{"text", &ScheduleRoot::text, &ScheduleRoot::text_supply, &Need::text_cells},
    HeapRow{},
    ElementRow{"extras", &ScheduleRoot::extras, &ScheduleRoot::extra_supply, &Need::extras},
    ElementRow{"keys", &ScheduleRoot::keys, &ScheduleRoot::key_supply, &Need::keys},
    BucketRow{"key_buckets", &ScheduleRoot::key_buckets, &ScheduleRoot::key_bucket_count, &ScheduleRoot::keys,
              &Need::keys, 2},
    ElementRow{"dependencies", &ScheduleRoot::dependencies, &ScheduleRoot::dependency_supply, &Need::waits},
    BucketRow{"dependency_buckets", &ScheduleRoot::dependency_buckets, &ScheduleRoot::dependency_bucket_count,
              &ScheduleRoot::dependencies, &Need::waits, 2},
    ElementRow{"waits", &ScheduleRoot::waits, &ScheduleRoot::wait_supply, &Need::waits}};
/// Queues without a policy for tenants, without schedules, or without steps, never have any of these.
inline constexpr std::tuple kPolicyRows{
    ElementRow{"controls", &ScheduleRoot::controls, &ScheduleRoot::control_supply, &Need::controls},
    ElementRow{"rules", &ScheduleRoot::rules, &ScheduleRoot::rule_supply, &Need::rules},
    BucketRow{"rule_buckets", &ScheduleRoot::rule_buckets, &ScheduleRoot::rule_bucket_count,
              &ScheduleRoot::rules, &Need::rules, 1, kRuleBucketsMax},
    PlaceRow{},
    ElementRow{"pools", &ScheduleRoot::pools, &ScheduleRoot::pool_supply, &Need::pools},
    BucketRow{"pool_buckets", &ScheduleRoot::pool_buckets, &ScheduleRoot::pool_bucket_count,
              &ScheduleRoot::pools, &Need::pools, 1, kPoolBucketsMax},
    ElementRow{"schedules", &ScheduleRoot::recurring, &ScheduleRoot::recurring_supply, &Need::schedules},
    BucketRow{"schedule_buckets", &ScheduleRoot::recurring_buckets, &ScheduleRoot::recurring_bucket_count,
              &ScheduleRoot::recurring, &Need::schedules, 1, kRecurringBucketsMax},
    ElementRow{"steps", &ScheduleRoot::steps, &ScheduleRoot::step_supply, &Need::steps}};
inline constexpr auto kArrayRows = std::tuple_cat(kFirstRows, kPolicyRows);
static_assert(std::tuple_size_v<decltype(kArrayRows)> == kArraysMax);
// Each has a number of its own.
static_assert(std::apply(
    [](const auto&... row) {
      const auto number_of = []<class Array>(Array ScheduleRoot::*) { return Array::kTable; };
      return ((uint64_t{1} << number_of(row.array)) | ...) == (uint64_t{1} << kArraysMax) - 1;
    },
    kArrayRows));

/// The place of a row, by which the owner of the region makes room for it.
enum class ArrayName : uint8_t {};
inline constexpr auto kFirstArrays = [] {
  std::array<ArrayName, std::tuple_size_v<decltype(kFirstRows)>> names{};
  for (uint8_t i = 0; i < names.size(); ++i) names[i] = ArrayName{i};
  return names;
}();

/// Calls `visit(name, row)` for each array until it returns true; whether it did. Unrolled: each push asks.
template <class Visit>
[[gnu::always_inline]] inline bool any_array(Visit&& visit) {
  return std::apply(
      [&](const auto&... row) {
        uint8_t at = 0;
        return (visit(ArrayName{at++}, row) || ...);
      },
      kArrayRows);
}

}  // namespace fq
