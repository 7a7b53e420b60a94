#include "core/schedule/check/arrays_check.h"

// System.
#include <algorithm>

namespace fq {

namespace {

template <class T>
uint32_t free_link(const T& element) {
  if constexpr (requires { element.chain; }) {
    return element.chain;
  } else {
    return element.next;  // of a text
  }
}

}  // namespace

template <class Array>
void ArraysCheck::check_capacity(const Array& array, const char* what) {
  using Type = std::remove_const_t<Array>;
  const uint64_t small = std::min<uint32_t>(array.chunk_count, kSmallChunks);
  const uint64_t large = array.chunk_count - small;
  const bool fits = array.chunk_count <= Type::kChunksMax &&
                    small * Type::kSmallBytes + large * Type::kLargeBytes <= region_.arena.bytes();
  const uint64_t capacity = small * Type::kPerSmall + large * Type::kPerLarge;
  if (!fits || array.capacity != capacity) fault(std::string("the capacity of ") + what + " is wrong");
}

void ArraysCheck::check_capacities() {
  const ScheduleRoot& root = region_.root;
  any_array([&](ArrayName, const auto& row) {
    const auto& array = root.*row.array;
    check_capacity(array, row.name);
    if constexpr (requires { row.supply; }) {
      if ((root.*row.supply).high_water > array.capacity)
        fault(std::string("A1: ") + row.name + " beyond their capacity");
    }
    if constexpr (requires { row.count; }) {
      if (root.*row.count > array.capacity) fault(std::string("more ") + row.name + " than cells");
    }
    return false;
  });
  if (root.places_used != 0 && root.places.capacity < root.tenant_supply.high_water)
    fault("tenants without a place");
  if (root.heap_count > root.heap.capacity) fault("A3: more timers than places");
}

void ArraysCheck::check_supplies() {
  const ScheduleRoot& root = region_.root;
  any_array([&](ArrayName, const auto& row) {
    if constexpr (requires { row.supply; }) {
      const auto& supply = root.*row.supply;
      uint64_t free = 0;
      StepLimit limit(supply.high_water + 1);
      for (uint32_t i = supply.free_head; i != kNoIndex; ++free) {
        limit.step();
        i = free_link(region_.arena.at(root.*row.array, i));
      }
      if (supply.used + free != supply.high_water) fault(std::string("A1: lost elements of ") + row.name);
    }
    return false;
  });
  if (root.heap.capacity < HeapRow::wanted(root, {})) fault("A3: heap too small");
}

}  // namespace fq
