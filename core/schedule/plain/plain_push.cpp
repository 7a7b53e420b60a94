// plain_push - see plain_push.h.
#include "core/schedule/plain/plain_push.h"

// fq, this room.
#include "core/schedule/memory/begun_entry.h"
#include "core/schedule/memory/id_index.h"
#include "core/schedule/rings/costs.h"
#include "core/schedule/tree/tenant_tree.h"

namespace fq {

bool PlainPush::is_usual() const { return !is_ranked(region_.root) && region_.root.terms.linger_ms <= 0; }

std::optional<SlotIndex> PlainPush::add(Txn& txn, const PlainEntry& from) const {
  if (!is_usual()) return std::nullopt;
  const uint32_t leaf = TenantTree(region_).find(from.tenant);
  if (leaf == kNoIndex) return std::nullopt;
  Tenant& tenant = region_.tenant(leaf);
  const uint32_t tail = tenant.lane.tail;
  Entry* const last = tail == kNoIndex ? nullptr : &region_.entry(tail);
  const bool comes_last = last == nullptr || last->id < number(from.id);
  const bool is_lane = !is_inner(tenant) && tenant.lane.count < kNoIndex - 1;
  if (!is_lane || !comes_last || (tenant.blocks & kBlockGather) != 0) return std::nullopt;

  ScheduleRoot& root = region_.root;
  const OpenedSums sums = open_sums(txn, root);
  const auto [slot, entry] = take_element(txn, region_.arena, root.entries, root.entry_supply);
  const Opened<Entry> made = region_.open(txn, entry);
  begin_entry(made, {.id = number(from.id),
                     .item_position = from.item_position,
                     .tenant = leaf,
                     .rank = 0,
                     .payload_bytes = from.payload_bytes,
                     .overhead_bytes = from.overhead_bytes,
                     .attempts_max = from.attempts_max,
                     .flags = from.flags});
  made.set(&Entry::state, static_cast<uint8_t>(SlotState::ready));
  made.set(&Entry::at_ms, from.now_ms);
  made.set(&Entry::prev, tail);
  made.set(&Entry::next, kNoIndex);
  EntryIndex(EntryIndexKind{&region_}).insert(txn, slot, made, root.entry_supply.used);

  add_to(sums, root.counters.pushed, 1);
  add_to(sums, root.payload_bytes, from.payload_bytes);
  add_to(sums, root.journal_bytes, journal_bytes_of(entry));
  add_to(sums.part(root.counts), &StateCounts<kOpensSums>::ready, 1);

  const Opened<Tenant> opened = region_.open(txn, tenant);
  const Opened<Lane> lane = opened.part(&Tenant::lane);
  if (tail == kNoIndex) lane.set(&Lane::head, slot);
  if (tail != kNoIndex) txn.set(last->next, slot);
  lane.set(&Lane::tail, slot);
  add_to(lane, &Lane::count, 1);
  add_to(opened, &Tenant::pushed, 1);
  StepLimit limit(kDepthMax);
  for (Opened<Tenant> node = opened;; limit.step()) {
    add_to(node.part(&Tenant::counts), &StateCounts<kNotOpened>::ready, 1);
    add_to(node, &Tenant::payload_bytes, from.payload_bytes);
    if (node->parent == kRoot) break;
    node = region_.open_ring(txn, region_.tenant(node->parent));
  }
  if (tenant.lane.count == 1) {
    add_to(sums, root.active_count, 1);
    Seats(region_).arrive(txn, leaf, {Costs(region_).of_newcomer(txn, entry, from.now_ms), from.now_ms});
  }
  return SlotIndex{slot};
}

}  // namespace fq
