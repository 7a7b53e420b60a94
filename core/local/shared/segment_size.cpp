#include "core/local/shared/segment_size.h"

// System.
#include <algorithm>

namespace fq {

namespace {

constexpr uint64_t kPlaceBytes = 2 * sizeof(IndexCell);  // in the index and in the heap

template <class T, uint32_t kOpens>
uint64_t bytes_of(const SupplyOf<kOpens>& supply, uint32_t but = 0) {
  const uint32_t used = supply.used.peek();
  return uint64_t{used - std::min(used, but)} * (sizeof(T) + kPlaceBytes);
}

/// That what lives takes. What only ended and is remembered is within the allowance.
uint64_t needed_bytes(const ScheduleRoot& root) {
  const uint64_t places = root.places_used.peek() == 0 ? 0 : bytes_of<Place>(root.tenant_supply);
  return bytes_of<Entry>(root.entry_supply, root.outcome_count.peek()) +
         bytes_of<Tenant>(root.tenant_supply) + places + bytes_of<TextCell>(root.text_supply) +
         bytes_of<Extra>(root.extra_supply) + bytes_of<UniqueKey>(root.key_supply) +
         bytes_of<Dependency>(root.dependency_supply) + bytes_of<Wait>(root.wait_supply) +
         bytes_of<Control>(root.control_supply) + bytes_of<Rule>(root.rule_supply) +
         bytes_of<Pool>(root.pool_supply);
}

}  // namespace

bool segment_is_too_large(const SegmentHeader& header) {
  const uint64_t bytes = header.segment_bytes.peek();
  if (bytes <= kSegmentAllowance) return false;
  return bytes > 2 * header.made_bytes.peek() &&
         bytes > kSegmentAllowance + kSegmentFactor * needed_bytes(header.schedule);
}

}  // namespace fq
