// growth - see growth.h.
#include "core/schedule/growth.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/schedule/order/dead_order.h"
#include "core/schedule/order/message_order.h"
#include "core/schedule/tree/tenant_tree.h"

namespace fq {
namespace {

uint32_t name_cells(const NodePatch& patch) {
  return (patch.set.given & kGivenPool) == 0 ? 0 : text_cells(patch.pool.size());
}

template <uint32_t kOpens>
void empty(Txn& txn, SupplyOf<kOpens>& supply) {
  txn.set(supply.free_head, kNoIndex);
  txn.set(supply.high_water, 0);
  txn.set(supply.used, 0);
}

/// Rules may give every new node a Control.
Need with_rules(const ScheduleRoot& root, Need need) {
  if (root.rules_generation != 0) need.controls += need.tenants;
  return need;
}

Need with_margin(const Need& need) {
  Need ahead = need;
  ahead.messages += kGrowthMargin.messages;
  ahead.tenants += kGrowthMargin.tenants;
  ahead.text_cells += kGrowthMargin.text_cells;
  if (need.extras != 0) ahead.extras += kGrowthMargin.extras;
  if (need.keys != 0) ahead.keys += kGrowthMargin.keys;
  if (need.waits != 0) ahead.waits += kGrowthMargin.waits;
  return ahead;
}

}  // namespace

void Growth::initialise(Txn& txn) const {
  ScheduleRoot& root = region_.root;
  any_array([&](ArrayName, const auto& row) {
    if constexpr (requires { row.supply; }) empty(txn, root.*row.supply);
    if constexpr (requires { row.count; }) {
      if ((root.*row.array).capacity == 0) return false;
      txn.set(root.*row.count, 1);
      txn.set(region_.arena.at(root.*row.array, 0).index, kNoIndex);
    }
    return false;
  });
  txn.set(root.first_outcome, kNoIndex);
  txn.set(root.last_outcome, kNoIndex);
  txn.set(root.first_ended, kNoIndex);
  txn.set(root.last_ended, kNoIndex);
  DeadLane::clear(txn, root.dead);
  for (RecurringList* list : {&root.due, &root.refused}) {
    txn.set(list->head, kNoIndex);
    txn.set(list->tail, kNoIndex);
  }
  txn.set(root.terms.batch_max, UINT64_MAX);
  txn.set(root.terms.next_node, kNoIndex);
  TenantTree(region_).make_root(txn);
}

std::optional<ArrayName> Growth::array_for(const Need& need) const {
  const ScheduleRoot& root = region_.root;
  const Need ahead = with_rules(root, with_margin(need));
  std::optional<ArrayName> small;
  any_array([&](ArrayName name, const auto& row) {
    const uint64_t wanted = row.wanted(root, ahead);
    const auto& array = root.*row.array;
    if (wanted == 0 || array.capacity >= wanted || Arena::next_chunk_bytes(array) == 0) return false;
    small = name;
    return true;
  });
  return small;
}

uint32_t Growth::bytes_of(ArrayName array) const {
  uint32_t bytes = 0;
  any_array([&](ArrayName name, const auto& row) {
    if (name == array) bytes = Arena::next_chunk_bytes(region_.root.*row.array);
    return name == array;
  });
  return bytes;
}

void Growth::grow(Txn& txn, ArrayName array, uint32_t page) const {
  any_array([&](ArrayName name, const auto& row) {
    if (name == array) Arena::add_chunk(txn, region_.root.*row.array, page);
    return name == array;
  });
  follow_scope(txn, region_.root);  // there may be places now
}

Need Growth::need_of_setting(std::string_view path, const NodePatch& patch) {
  Need need = need_of(path, {});
  need.controls = 1;
  need.text_cells += name_cells(patch);
  return need;
}

Need Growth::need_of_pool(std::string_view name) {
  return {.text_cells = text_cells(name.size()), .pools = 1};
}

Need Growth::need_of_schedule(std::string_view name) {
  return {.text_cells = text_cells(name.size()), .schedules = 1};
}

Need Growth::need_of_rule(std::string_view pattern, const NodePatch& values) {
  Need need;
  need.rules = 1;
  need.text_cells = text_cells(pattern.size()) + name_cells(values);
  return need;
}

bool Growth::fits(const Need& need) const {
  const ScheduleRoot& root = region_.root;
  const Need all = with_rules(root, need);
  return !any_array([&](ArrayName, const auto& row) {
    // With fewer buckets chains are longer, and that is all.
    if constexpr (requires { row.count; }) return false;
    return row.wanted(root, all) > (root.*row.array).capacity;
  });
}

}  // namespace fq
