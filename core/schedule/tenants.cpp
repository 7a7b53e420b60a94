// tenants - see tenants.h.
#include "core/schedule/tenants.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/schedule/order/message_order.h"
#include "core/schedule/tree/tenant_tree.h"

namespace fq {

std::optional<TenantIndex> Tenants::find(std::string_view path) const {
  return index_or_none<TenantIndex>(TenantTree(region_).find(path));
}

std::optional<TenantIndex> Tenants::next_leaf(TenantIndex from) const {
  for (uint32_t i = number_of(from), end = nodes_end(); i < end; ++i) {
    const Tenant& at = region_.tenant(i);
    if (is_used(at) && !is_inner(at)) return TenantIndex{i};
  }
  return std::nullopt;
}

std::optional<SlotIndex> Tenants::first_ready(TenantIndex leaf) const {
  const Tenant& from = at(leaf);
  if (is_inner(from)) return std::nullopt;
  return index_or_none<SlotIndex>(MessageLane(MessageKind{&region_}).first(from.lane));
}

std::optional<int64_t> Tenants::ready_since_ms(TenantIndex leaf) const {
  const Tenant& from = at(leaf);
  if (is_inner(from)) return std::nullopt;
  std::optional<int64_t> since;
  LaneWalk<MessageKind> walk(MessageKind{&region_}, from.lane);
  for (int seen = 0; seen < kReturnedMost; ++seen) {
    const uint32_t slot = walk.next();
    if (slot == kNoIndex) break;
    const Entry& entry = region_.entry(slot);
    since = std::min(since.value_or(kNever), entry.at_ms.get());
    if (entry.deliveries == 0) break;
  }
  return since;
}

}  // namespace fq
