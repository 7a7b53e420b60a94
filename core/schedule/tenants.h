// tenants - the nodes of the tenant tree, looked at by path and by index. Changes nothing: NodePolicy sets
// their values, and they come and go with their messages.
#pragma once

// System.
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
// fq, this room.
#include "core/schedule/rings/blockers.h"
#include "core/schedule/tree/tenant_tree.h"

namespace fq {

/// Of messages at the front of a tenant's line so many are looked at, where they came back.
inline constexpr int kReturnedMost = 16;

class Tenants {
 public:
  explicit Tenants(const Region& region) : region_(region) {}

  /// The node of this path, with all below it; none when no message was pushed there (or it was forgotten).
  std::optional<TenantIndex> find(std::string_view path) const;
  std::string path_of(TenantIndex tenant) const { return TenantTree(region_).path_of(number_of(tenant)); }
  /// The same without allocating: for what runs under a lock.
  std::string_view path_copy(TenantIndex tenant, std::span<char, kTextBytesMax> into) const {
    return TenantTree(region_).path_copy(number_of(tenant), into);
  }
  const Tenant& at(TenantIndex tenant) const { return region_.tenant(number_of(tenant)); }
  bool is_below(TenantIndex tenant, TenantIndex ancestor) const {
    return TenantTree(region_).is_below(number_of(tenant), number_of(ancestor));
  }
  /// The next node with a queue of its own (empty or not) at or after `from` in index order.
  std::optional<TenantIndex> next_leaf(TenantIndex from) const;
  /// Behind the last node that was ever used.
  uint32_t nodes_end() const {
    return std::min<uint32_t>(region_.root.tenant_supply.high_water, region_.root.tenants.capacity);
  }
  /// True when it or a node above it is parked or lacks room in a pool: its messages have no turns now.
  bool is_blocked(TenantIndex tenant) const { return TenantTree(region_).is_blocked(number_of(tenant)); }
  /// The message that its next turn gives, parked or not; none when it has none or is an inner node.
  std::optional<SlotIndex> first_ready(TenantIndex leaf) const;
  /// Since when something of it has been ready: of the next in line, and where that was handed out before and
  /// came back, also of those behind it, up to the first that was not. kReturnedMost steps at most.
  std::optional<int64_t> ready_since_ms(TenantIndex leaf) const;

 private:
  static uint32_t number_of(TenantIndex tenant) { return static_cast<uint32_t>(tenant); }

  const Region& region_;
};

}  // namespace fq
