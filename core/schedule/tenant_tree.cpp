// tenant_tree - see tenant_tree.h. How nodes are made and forgotten is in tenant_life.cpp.
#include "core/schedule/tenant_tree.h"

// fq, this room.
#include "core/schedule/delay_heap.h"
#include "core/schedule/name_hash.h"
#include "core/schedule/text_pool.h"

namespace fq {
namespace {

constexpr uint32_t kRoot = static_cast<uint32_t>(kRootTenant);

}  // namespace

uint64_t TenantTree::hash_of(std::string_view path) const {
  return hash_name(region_.root.hash_key[0], region_.root.hash_key[1], path);
}

uint32_t TenantTree::find_hashed(std::string_view path, uint64_t hash) const {
  return index_.find(hash, [&](const Tenant& tenant) {
    return tenant.hash == hash && text_equals(region_, tenant.name, path);
  });
}

uint32_t TenantTree::find(std::string_view path) const {
  return path.empty() ? kRoot : find_hashed(path, hash_of(path));
}

uint32_t TenantTree::leaf_of(Txn& txn, std::string_view path) const {
  if (const uint32_t found = find(path); found != kNoIndex) {
    return is_inner(region_.tenant(found)) ? own_leaf(txn, found) : found;
  }
  // The longest part of the path that is there, then down from it.
  size_t known = path.size();
  uint32_t node = kNoIndex;
  while (node == kNoIndex) {
    const size_t slash = path.substr(0, known).rfind('/');
    known = slash == std::string_view::npos ? 0 : slash;
    node = find(path.substr(0, known));
  }
  if (!is_inner(region_.tenant(node))) node = make_inner(txn, node);
  while (known < path.size()) {
    size_t end = path.find('/', known == 0 ? 0 : known + 1);
    if (end == std::string_view::npos) end = path.size();
    node = make_named(txn, node, path.substr(0, end), end < path.size());
    known = end;
  }
  return node;
}

std::string TenantTree::path_of(uint32_t i) const {
  const Tenant* tenant = &region_.tenant(i);
  if ((tenant->flags & kTenantSelf) != 0) tenant = &region_.tenant(tenant->parent);
  return tenant->name == kNoIndex ? std::string() : text_of(region_, tenant->name);
}

bool TenantTree::is_below(uint32_t i, uint32_t ancestor) const {
  StepLimit limit(kDepthMax);
  while (i != ancestor && i != kRoot) {
    limit.step();
    i = region_.tenant(i).parent;
  }
  return i == ancestor;
}

bool TenantTree::is_blocked(uint32_t i) const {
  StepLimit limit(kDepthMax);
  for (;; i = region_.tenant(i).parent) {
    if (is_parked(region_.tenant(i))) return true;
    if (i == kRoot) return false;
    limit.step();
  }
}

void TenantTree::park(Txn& txn, uint32_t i, int64_t until_ms) const {
  const DelayHeap heap(region_);
  Tenant& tenant = region_.tenant(i);
  if (!is_parked(tenant)) add_to(txn, region_.root.parked_count, 1);
  set_flag(txn, tenant, kTenantParked, true);
  heap.remove(txn, i | kTimerOfTenant);
  put(txn, tenant.timer_ms, until_ms);
  if (until_ms != kNever) heap.insert(txn, i | kTimerOfTenant);
  seats_.settle(txn, i);
}

void TenantTree::unpark(Txn& txn, uint32_t i) const {
  Tenant& tenant = region_.tenant(i);
  if (!is_parked(tenant)) return;
  take_from(txn, region_.root.parked_count, 1);
  set_flag(txn, tenant, kTenantParked, false);
  DelayHeap(region_).remove(txn, i | kTimerOfTenant);
  seats_.settle(txn, i);
}

}  // namespace fq
