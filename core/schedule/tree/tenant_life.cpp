// tenant_life - the life of a node of the tenant tree: made, turned into an inner node, and forgotten.
#include "core/schedule/tree/tenant_tree.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/limits.h"
// fq, this room.
#include "core/schedule/order/delay_heap.h"
#include "core/schedule/memory/text_pool.h"

namespace fq {
namespace {

void clear(Txn& txn, Histogram& histogram) {
  for (auto& each : histogram.bucket) put(txn, each, 0);
  put(txn, histogram.longest, ShortTime{0});
  put(txn, histogram.longest_before, ShortTime{0});
}

// A node that was used before still holds what it was.
void clear(Txn& txn, Tenant& tenant) {
  Ring::clear(txn, tenant.lane);
  put(txn, tenant.tag, 0);
  put(txn, tenant.sequence, 0);
  put(txn, tenant.vtime, 0);
  put(txn, tenant.joins, 0);
  put(txn, tenant.hash, 0);
  put(txn, tenant.timer_ms, 0);
  put(txn, tenant.used_ms, 0);
  put(txn, tenant.payload_bytes, 0);
  put(txn, tenant.popped, 0);
  put(txn, tenant.pushed, 0);
  put(txn, tenant.acked, 0);
  put(txn, tenant.retried, 0);
  put(txn, tenant.released, 0);
  put(txn, tenant.buried, 0);
  put(txn, tenant.expired, 0);
  put(txn, tenant.cancelled, 0);
  put(txn, tenant.chain, kNoIndex);
  put(txn, tenant.name, kNoIndex);
  put(txn, tenant.self, kNoIndex);
  put(txn, tenant.children, 0);
  put(txn, tenant.heap_place, kNoIndex);
  put(txn, tenant.weight_milli, kWeightDefault);
  put(txn, tenant.run_ticks, 0);
  put(txn, tenant.control, kNoIndex);
  put(txn, tenant.blocks, 0);
  clear(txn, tenant.wait);
  clear(txn, tenant.run);
  put(txn, tenant.served, 0);
  put(txn, tenant.served_at, 0);
}

void copy(Txn& txn, StateCounts<kNotOpened>& to, const StateCounts<kNotOpened>& from) {
  put(txn, to.ready, from.ready.get());
  put(txn, to.delayed, from.delayed.get());
  put(txn, to.leased, from.leased.get());
  put(txn, to.held, from.held.get());
  put(txn, to.dead, from.dead.get());
}

}  // namespace

void TenantTree::make_root(Txn& txn) const {
  const auto [root, tenant] =
      take_element(txn, region_.arena, region_.root.tenants, region_.root.tenant_supply);
  FQ_ASSERT(root == kRoot);
  clear(txn, tenant);
  put(txn, tenant.parent, kNoIndex);
  put(txn, tenant.level, 0);
  put(txn, tenant.flags, kTenantUsed | kTenantInner);
}

// A node below `parent`, not yet in the index and without name.
uint32_t TenantTree::make(Txn& txn, uint32_t parent, uint8_t flags) const {
  const auto [i, tenant] = take_element(txn, region_.arena, region_.root.tenants, region_.root.tenant_supply);
  clear(txn, tenant);
  if (region_.root.places_used != 0) {
    put(txn, region_.place(i).sets, 0);
    put(txn, region_.place(i).below, 0);
    put(txn, region_.place(i).ranks, 0);
    put(txn, region_.place(i).sums, 0);
  }
  put(txn, tenant.parent, parent);
  put(txn, tenant.level, static_cast<uint8_t>(region_.tenant(parent).level + 1));
  put(txn, tenant.flags, static_cast<uint8_t>(flags | kTenantUsed));
  add_to(txn, region_.tenant(parent).children, 1);
  if ((flags & kTenantInner) == 0) add_to(txn, region_.root.tenants_count, 1);
  return i;
}

uint32_t TenantTree::make_named(Txn& txn, uint32_t parent, std::string_view path, bool inner) const {
  if (region_.tenant(parent).level >= kTenantLevelsMax) throw RegionDamaged{"a tenant has too many levels"};
  const uint32_t i = make(txn, parent, inner ? kTenantInner : 0);
  Tenant& tenant = region_.tenant(i);
  put(txn, tenant.name, text_add(txn, region_, path));
  put(txn, tenant.hash, hash_of(path));
  add_to(txn, region_.root.named_tenants, 1);
  index_.insert(txn, i, tenant, region_.root.named_tenants);
  if (rules().any()) limits().bring_up_to_date(txn, i, rules().terms_of(path), 0);
  return i;
}

// The self child of an inner node.
uint32_t TenantTree::own_leaf(Txn& txn, uint32_t node) const {
  Tenant& tenant = region_.tenant(node);
  if (tenant.self == kNoIndex) txn.set(tenant.self, make(txn, node, kTenantSelf));
  return tenant.self;
}

// Makes a leaf an inner node, and returns that: itself when it has no messages, else a new node in its
// place with the leaf as self child.
uint32_t TenantTree::make_inner(Txn& txn, uint32_t leaf) const {
  Tenant& old = region_.tenant(leaf);
  const CountsNow counts(old.counts);
  if ((counts.ready | counts.delayed | counts.leased | counts.held | counts.dead) == 0) {
    set_flag(txn, old, kTenantInner, true);
    put(txn, old.vtime, 0);
    put(txn, expected_ticks(old), 0);
    take_from(txn, region_.root.tenants_count, 1);
    return leaf;
  }
  const DelayHeap heap(region_);
  const uint32_t i = make(txn, old.parent, kTenantInner);
  Tenant& inner = region_.tenant(i);
  take_from(txn, region_.tenant(old.parent).children, 1);  // one for the other
  put(txn, inner.name, old.name.get());
  put(txn, inner.hash, old.hash.get());
  put(txn, inner.weight_milli, old.weight_milli.get());
  put(txn, inner.self, leaf);
  put(txn, inner.children, 1);
  put(txn, inner.timer_ms, old.timer_ms.get());
  put(txn, inner.used_ms, old.used_ms.get());
  put(txn, inner.payload_bytes, old.payload_bytes.get());
  copy(txn, inner.counts, old.counts);
  index_.replace(txn, leaf, i);
  const bool timed = old.heap_place != kNoIndex;
  heap.remove(txn, leaf | kTimerOfTenant);
  if (timed) heap.insert(txn, i | kTimerOfTenant);
  limits().move(txn, leaf, i);
  // What was said of the path is the inner node's; that messages gather goes with the messages.
  const unsigned gathers = old.blocks & unsigned{kBlockGather};
  const unsigned others = old.blocks & ~unsigned{kBlockGather};
  put(txn, inner.blocks, static_cast<uint8_t>(others));
  put(txn, old.blocks, static_cast<uint8_t>(gathers));
  if (gathers != 0 && others != 0) add_to(txn, region_.root.parked_count, 1);
  if (gathers != 0) limits().set_timer(txn, leaf);
  seats().replace(txn, leaf, i);
  put(txn, old.parent, i);
  put(txn, old.level, static_cast<uint8_t>(old.level + 1));
  put(txn, old.name, kNoIndex);
  put(txn, old.weight_milli, kWeightDefault);
  // The first in its ring, as if it had always been there, and charged for what runs: some of it comes back.
  put(txn, old.tag, turn_of(kWeightDefault) + turn_of_ticks(kWeightDefault, expected_ticks(old)));
  set_flag(txn, old, kTenantSelf, true);
  seats().reseat(txn, leaf);
  return i;
}

bool TenantTree::has_nothing(const Tenant& tenant) {
  const CountsNow counts(tenant.counts);
  return (counts.ready | counts.delayed | counts.leased | counts.held | counts.dead | tenant.children) == 0 &&
         !is_parked(tenant);
}

void TenantTree::note_idle(Txn& txn, uint32_t i, int64_t now_ms) const {
  Tenant& tenant = region_.tenant(i);
  if (i == kRoot || !has_nothing(tenant)) return;
  // A timer that it still has from the last time is left: it looks at used_ms when it is due. So a tenant
  // that is idle after each message does not move in the heap each time.
  if (tenant.heap_place != kNoIndex || limits().is_set(tenant)) return;
  put(txn, tenant.timer_ms, now_ms + kIdleMs);
  DelayHeap(region_).insert(txn, i | kTimerOfTenant);
}

void TenantTree::fire(Txn& txn, uint32_t i, int64_t now_ms) const {
  Tenant& tenant = region_.tenant(i);
  const DelayHeap heap(region_);
  heap.remove(txn, i | kTimerOfTenant);
  gathering().fire(txn, i, now_ms);
  limits().fire(txn, i, now_ms);
  if (tenant.heap_place != kNoIndex || i == kRoot || !has_nothing(tenant) || limits().is_set(tenant)) return;
  const bool long_idle = time_after(tenant.used_ms, kIdleMs) <= now_ms;
  const bool needed = limits().is_needed(tenant, now_ms) || seats().owes(tenant, now_ms);
  if (long_idle && !needed) return forget(txn, i, now_ms);
  put(txn, tenant.timer_ms, time_after(long_idle ? now_ms : tenant.used_ms.get(), kIdleMs));
  heap.insert(txn, i | kTimerOfTenant);
}

void TenantTree::forget(Txn& txn, uint32_t i, int64_t now_ms) const {
  StepLimit limit(kDepthMax);
  while (i != kRoot && has_nothing(region_.tenant(i))) {
    limit.step();
    Tenant& tenant = region_.tenant(i);
    if (limits().is_needed(tenant, now_ms) || seats().owes(tenant, now_ms)) return note_idle(txn, i, now_ms);
    limits().remove(txn, tenant);
    Tenant& parent = region_.tenant(tenant.parent);
    const uint32_t parent_index = tenant.parent;
    if (is_seated(tenant)) throw RegionDamaged{"an idle tenant has a seat"};
    DelayHeap(region_).remove(txn, i | kTimerOfTenant);
    if ((tenant.flags & kTenantSelf) != 0) {
      txn.set(parent.self, kNoIndex);
    } else {
      index_.remove(txn, i, tenant);
      text_remove(txn, region_, tenant.name);
      take_from(txn, region_.root.named_tenants, 1);
    }
    take_from(txn, parent.children, 1);
    if (!is_inner(tenant)) take_from(txn, region_.root.tenants_count, 1);
    put(txn, tenant.flags, 0);
    free_element(txn, region_.root.tenant_supply, tenant, i);
    i = parent_index;
  }
}

}  // namespace fq
