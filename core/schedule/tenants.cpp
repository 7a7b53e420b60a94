// tenants - see tenants.h.
#include "core/schedule/tenants.h"

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

}  // namespace fq
