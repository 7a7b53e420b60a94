// tenant_tree - see tenant_tree.h. How nodes are made and forgotten is in tenant_life.cpp.
#include "core/schedule/tree/tenant_tree.h"

// System.
#include <array>

// fq, this room.
#include "core/schedule/rings/blockers.h"
#include "core/schedule/order/delay_heap.h"
#include "core/base/name_hash.h"
#include "core/schedule/memory/text_pool.h"

namespace fq {

uint64_t TenantTree::hash_of(std::string_view path) const {
  return hash_name(region_.root.hash_key[0], region_.root.hash_key[1], path);
}

uint32_t TenantTree::find_hashed(std::string_view path, uint64_t hash) const {
  return index_.find(hash, [&](const Tenant& tenant) {
    return tenant.hash == hash && text_equals(region_, tenant.name, path);
  });
}

bool TenantTree::has_path(uint32_t i, std::string_view path) const {
  if (i >= region_.root.tenants.capacity) return false;
  const Tenant& tenant = region_.tenant(i);
  return is_used(tenant) && tenant.name != kNoIndex && text_equals(region_, tenant.name, path);
}

[[gnu::flatten]] uint32_t TenantTree::find(std::string_view path) const {
  if (path.empty()) return kRoot;
  if (const uint32_t hint = region_.hints.of(path); has_path(hint, path)) return hint;
  const uint32_t found = find_hashed(path, hash_of(path));
  if (found != kNoIndex) region_.hints.note(path, found);
  return found;
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
  std::array<char, kTextBytesMax> path;
  return std::string(path_copy(i, path));
}

std::string_view TenantTree::path_copy(uint32_t i, std::span<char, kTextBytesMax> into) const {
  const Tenant* tenant = &region_.tenant(i);
  if ((tenant->flags & kTenantSelf) != 0) tenant = &region_.tenant(tenant->parent);
  return tenant->name == kNoIndex ? std::string_view() : text_copy(region_, tenant->name, into);
}

bool TenantTree::is_below(uint32_t i, uint32_t ancestor) const {
  StepLimit limit(kDepthMax);
  while (i != ancestor && i != kRoot) {
    limit.step();
    i = region_.tenant(i).parent;
  }
  return i == ancestor;
}

bool TenantTree::is_blocked(uint32_t i) const { return Blockers(region_).any(i); }

bool TenantTree::is_below_paused(uint32_t i) const {
  StepLimit limit(kDepthMax);
  while (i != kRoot) {
    i = region_.tenant(i).parent;
    if ((region_.tenant(i).blocks & kBlockPaused) != 0) return true;
    limit.step();
  }
  return false;
}

void TenantTree::set(Txn& txn, uint32_t i, const NodePatch& patch, int64_t now_ms) const {
  limits().set(txn, i, patch);
  bring_up_to_date(txn, i, now_ms);
  note_idle(txn, i, now_ms);
}

void TenantTree::bring_up_to_date(Txn& txn, uint32_t i, int64_t now_ms) const {
  // What is said of a path holds for its node; the self child is only where that keeps its messages.
  if ((region_.tenant(i).flags & kTenantSelf) != 0) return;
  const uint32_t name = region_.tenant(i).name;
  std::array<char, kTextBytesMax> buffer;
  const std::string_view path = name == kNoIndex ? std::string_view() : text_copy(region_, name, buffer);
  limits().bring_up_to_date(txn, i, rules().terms_of(path), now_ms);
}

}  // namespace fq
