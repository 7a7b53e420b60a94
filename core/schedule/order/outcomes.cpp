// outcomes - see outcomes.h.
#include "core/schedule/order/outcomes.h"

// fq, this room.
#include "core/schedule/memory/id_index.h"

namespace fq {
namespace {

/// The oldest, in whose place another one has come.
void forget_oldest(Txn& txn, const Region& region) {
  ScheduleRoot& root = region.root;
  const uint32_t slot = root.first_outcome;
  Entry& entry = region.entry(slot);
  const EntryIndex index(EntryIndexKind{&region});
  // There is a next one, since one has just been added. It was fetched when the last one was forgotten.
  Entry& next = region.entry(entry.next);
  index.fetch_chain_ahead(hash_id(next.id));
  if (next.next < root.entries.capacity) fetch_ahead(region.entry(next.next));
  open_sums(txn, root).set(root.first_outcome, entry.next);
  index.remove(txn, slot, entry);
  free_element(txn, root.entry_supply, entry, slot);
}

}  // namespace

void outcome_add(Txn& txn, const Region& region, uint32_t slot, const Opened<Entry>& entry,
                 const Outcome& outcome) {
  ScheduleRoot& root = region.root;
  entry.set(&Entry::state, static_cast<uint8_t>(SlotState::free));
  entry.set(&Entry::event_position, outcome.event_position);
  entry.set(&Entry::at_ms, outcome.at_wall_ms);
  entry.set(&Entry::height, static_cast<uint8_t>(outcome.verdict));
  entry.set(&Entry::next, kNoIndex);
  const OpenedSums sums = open_sums(txn, root);
  if (root.outcome_count == 0) {
    sums.set(root.first_outcome, slot);
  } else {
    txn.set(region.entry(root.last_outcome).next, slot);
  }
  sums.set(root.last_outcome, slot);
  if (root.outcome_count < kOutcomesMax) return add_to(sums, root.outcome_count, 1);
  forget_oldest(txn, region);
}

void outcome_copy(Txn& txn, const Region& region, uint64_t id, const Outcome& outcome) {
  ScheduleRoot& root = region.root;
  const auto [slot, entry] = take_element(txn, region.arena, root.entries, root.entry_supply);
  put(txn, entry.id, id);
  put(txn, entry.attempts, outcome.attempts);
  EntryIndex(EntryIndexKind{&region}).insert(txn, slot, entry, root.entry_supply.used);
  outcome_add(txn, region, slot, region.open(txn, entry), outcome);
}

void outcome_forget(Txn& txn, const Region& region) {
  ScheduleRoot& root = region.root;
  const uint32_t slot = root.first_outcome;
  Entry& entry = region.entry(slot);
  txn.set(root.first_outcome, entry.next.get());
  if (entry.next == kNoIndex) txn.set(root.last_outcome, kNoIndex);
  take_from(txn, root.outcome_count, 1);
  EntryIndex(EntryIndexKind{&region}).remove(txn, slot, entry);
  free_element(txn, root.entry_supply, entry, slot);
}

uint32_t outcome_find(const Region& region, uint64_t id) {
  return EntryIndex(EntryIndexKind{&region}).find(hash_id(id), [&](const Entry& entry) {
    return entry.id == id && state_of(entry) == SlotState::free;
  });
}

Outcome outcome_at(const Region& region, uint32_t slot) {
  const Entry& entry = region.entry(slot);
  return {static_cast<RecordType>(entry.height.get()), entry.event_position, entry.at_ms, entry.attempts};
}

}  // namespace fq
