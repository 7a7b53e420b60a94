// room - how much place a schedule has, and what has to grow before a push.
//
// Only pushes need room. The arrays that follow others (heap, buckets) are grown together with those, so
// everything that happens to a message after its push finds its place: on a full disk a queue can still be
// served to the end.
#include "core/schedule/schedule.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/schedule/order/dead_order.h"
#include "core/schedule/order/message_order.h"
#include "core/schedule/tree/tenant_tree.h"

namespace fq {
namespace {

template <class Visit>
auto visit_array(ScheduleRoot& root, ArrayName name, Visit visit) {
  switch (name) {
    case ArrayName::extras:
      return visit(root.extras);
    case ArrayName::keys:
      return visit(root.keys);
    case ArrayName::key_buckets:
      return visit(root.key_buckets);
    case ArrayName::dependencies:
      return visit(root.dependencies);
    case ArrayName::dependency_buckets:
      return visit(root.dependency_buckets);
    case ArrayName::waits:
      return visit(root.waits);
    case ArrayName::entries:
      return visit(root.entries);
    case ArrayName::heap:
      return visit(root.heap);
    case ArrayName::id_buckets:
      return visit(root.id_buckets);
    case ArrayName::tenants:
      return visit(root.tenants);
    case ArrayName::tenant_buckets:
      return visit(root.tenant_buckets);
    case ArrayName::text:
      return visit(root.text);
    case ArrayName::controls:
      return visit(root.controls);
    case ArrayName::rules:
      return visit(root.rules);
    case ArrayName::rule_buckets:
      return visit(root.rule_buckets);
    case ArrayName::places:
      return visit(root.places);
    case ArrayName::pools:
      return visit(root.pools);
    case ArrayName::pool_buckets:
      break;
  }
  return visit(root.pool_buckets);
}

void empty(Txn& txn, Supply& supply) {
  txn.set(supply.free_head, kNoIndex);
  txn.set(supply.high_water, 0);
  txn.set(supply.used, 0);
}

/// Rules may give every new node one.
uint64_t wanted_controls(const ScheduleRoot& root, const Need& need) {
  const uint64_t more = uint64_t{need.controls} + (root.rules_generation == 0 ? 0 : need.tenants);
  return more == 0 ? 0 : root.control_supply.used + more;
}

/// Each tenant has one, or none has.
uint64_t wanted_places(const ScheduleRoot& root, const Need& need) {
  return root.places_used != 0 || need.pools != 0 || root.terms.scope == Scope::queue
             ? root.tenants.capacity.get()
             : 0;
}

uint64_t wanted_pools(const ScheduleRoot& root, const Need& need) {
  return need.pools == 0 ? 0 : uint64_t{root.pool_supply.used} + need.pools;
}

/// The capacity that this array should have so that `need` fits. 0 where none of it is needed: most pushes
/// need nothing of most arrays, and do not even look at them.
uint64_t wanted_capacity(const ScheduleRoot& root, ArrayName name, const Need& need) {
  const uint64_t entries = uint64_t{root.entry_supply.used} + need.messages;
  const uint64_t tenants = uint64_t{root.tenant_supply.used} + need.tenants;
  const uint64_t keys = uint64_t{root.key_supply.used} + need.keys;
  switch (name) {
    case ArrayName::extras:
      return need.extras == 0 ? 0 : uint64_t{root.extra_supply.used} + need.extras;
    case ArrayName::keys:
      return need.keys == 0 ? 0 : keys;
    case ArrayName::key_buckets:
      return need.keys == 0 ? 0 : root.keys.capacity / 2;
    case ArrayName::dependencies:
      return need.waits == 0 ? 0 : uint64_t{root.dependency_supply.used} + need.waits;
    case ArrayName::dependency_buckets:
      return need.waits == 0 ? 0 : root.dependencies.capacity / 2;
    case ArrayName::waits:
      return need.waits == 0 ? 0 : uint64_t{root.wait_supply.used} + need.waits;
    case ArrayName::entries:
      return entries;
    case ArrayName::tenants:
      return tenants;
    case ArrayName::text:
      return uint64_t{root.text_supply.used} + need.text_cells;
    case ArrayName::heap:
      return entries + tenants + keys + root.pool_supply.used + need.pools;
    case ArrayName::id_buckets:
      return root.entries.capacity / 2;
    case ArrayName::tenant_buckets:
      return root.tenants.capacity;
    case ArrayName::controls:
      return wanted_controls(root, need);
    case ArrayName::rules:
      return need.rules == 0 ? 0 : uint64_t{root.rule_supply.used} + need.rules;
    case ArrayName::rule_buckets:
      return need.rules == 0 ? 0 : std::min<uint64_t>(kRuleBucketsMax, root.rules.capacity);
    case ArrayName::places:
      return wanted_places(root, need);
    case ArrayName::pools:
      return wanted_pools(root, need);
    case ArrayName::pool_buckets:
      return need.pools == 0 ? 0 : std::min<uint64_t>(kPoolBucketsMax, root.pools.capacity);
  }
  return 0;
}

Need with_margin(const Need& need) {
  Need ahead = need;
  ahead += kGrowthMargin;
  if (need.extras == 0) ahead.extras = 0;
  if (need.keys == 0) ahead.keys = 0;
  if (need.waits == 0) ahead.waits = 0;
  return ahead;
}

}  // namespace

void Schedule::initialise(Txn& txn) {
  ScheduleRoot& root = region_.root;
  empty(txn, root.entry_supply);
  empty(txn, root.tenant_supply);
  empty(txn, root.text_supply);
  empty(txn, root.extra_supply);
  empty(txn, root.key_supply);
  empty(txn, root.dependency_supply);
  empty(txn, root.wait_supply);
  txn.set(root.first_outcome, kNoIndex);
  txn.set(root.last_outcome, kNoIndex);
  txn.set(root.first_ended, kNoIndex);
  txn.set(root.last_ended, kNoIndex);
  txn.set(root.dependency_bucket_count, 1);
  txn.set(region_.arena.at(root.dependency_buckets, 0).index, kNoIndex);
  txn.set(root.key_bucket_count, 1);
  txn.set(region_.arena.at(root.key_buckets, 0).index, kNoIndex);
  empty(txn, root.control_supply);
  empty(txn, root.rule_supply);
  empty(txn, root.pool_supply);
  txn.set(root.id_bucket_count, 1);
  txn.set(root.tenant_bucket_count, 1);
  txn.set(region_.arena.at(root.id_buckets, 0).index, kNoIndex);
  txn.set(region_.arena.at(root.tenant_buckets, 0).index, kNoIndex);
  DeadLane::clear(txn, root.dead);
  txn.set(root.terms.batch_max, UINT64_MAX);
  txn.set(root.terms.next_node, kNoIndex);
  TenantTree(region_).make_root(txn);
}

std::optional<ArrayName> Schedule::growth_for(const Need& need) const {
  const Need ahead = with_margin(need);
// Each push asks: unrolled, the questions of all names become a few comparisons.
#pragma GCC unroll 20
  for (const ArrayName name : kArrayNames) {
    const uint64_t wanted = wanted_capacity(region_.root, name, ahead);
    if (wanted == 0) continue;
    const uint64_t capacity = visit_array(region_.root, name, [](auto& a) { return uint64_t{a.capacity}; });
    if (capacity < wanted && growth_bytes(name) != 0) return name;
  }
  return std::nullopt;
}

uint32_t Schedule::growth_bytes(ArrayName array) const {
  return visit_array(region_.root, array, [](auto& a) { return Arena::next_chunk_bytes(a); });
}

void Schedule::grow(Txn& txn, ArrayName array, uint32_t page) {
  visit_array(region_.root, array, [&](auto& a) { Arena::add_chunk(txn, a, page); });
  if (array == ArrayName::places) follow_scope(txn, region_.root);
}

Need Schedule::need_of(std::string_view tenant, std::string_view key) {
  // A node each level, and the self child of an inner one.
  Need need{.messages = 1, .tenants = 2, .text_cells = text_cells(tenant.size())};
  if (!key.empty()) need.text_cells += text_cells(key.size() + kKeyTailBytes);
  for (size_t end = tenant.find('/'); end != std::string_view::npos; end = tenant.find('/', end + 1)) {
    ++need.tenants;
    need.text_cells += text_cells(end);
  }
  return need;
}

bool Schedule::fits(const Need& need) const {
  const ScheduleRoot& root = region_.root;
  const uint64_t entries = uint64_t{root.entry_supply.used} + need.messages;
  const uint64_t tenants = uint64_t{root.tenant_supply.used} + need.tenants;
  const uint64_t keys = uint64_t{root.key_supply.used} + need.keys;
  const uint64_t pools = uint64_t{root.pool_supply.used} + need.pools;
  return entries <= root.entries.capacity && tenants <= root.tenants.capacity &&
         entries + tenants + keys + pools <= root.heap.capacity && keys <= root.keys.capacity &&
         pools <= root.pools.capacity && wanted_places(root, need) <= root.places.capacity &&
         uint64_t{root.dependency_supply.used} + need.waits <= root.dependencies.capacity &&
         uint64_t{root.wait_supply.used} + need.waits <= root.waits.capacity &&
         uint64_t{root.text_supply.used} + need.text_cells <= root.text.capacity &&
         uint64_t{root.extra_supply.used} + need.extras <= root.extras.capacity &&
         wanted_controls(root, need) <= root.controls.capacity &&
         uint64_t{root.rule_supply.used} + need.rules <= root.rules.capacity;
}

}  // namespace fq
