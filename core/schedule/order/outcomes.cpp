// outcomes - see outcomes.h.
#include "core/schedule/order/outcomes.h"

// fq, this room.
#include "core/schedule/memory/id_index.h"

namespace fq {

void outcome_replace_oldest(Txn& txn, const Region& region) {
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
