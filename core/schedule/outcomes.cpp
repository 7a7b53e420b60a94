// outcomes - see outcomes.h.
#include "core/schedule/outcomes.h"

// fq, this room.
#include "core/schedule/id_index.h"

namespace fq {

void outcome_add(Txn& txn, const Region& region, const NewOutcome& outcome) {
  ScheduleRoot& root = region.root;
  const OutcomeIndex index(OutcomeIndexKind{&region});
  const uint32_t place = root.outcome_next;
  Outcome& slot = region.arena.at(root.outcomes, place);
  if (place < root.outcome_count) {
    index.remove(txn, place, slot);
  } else {
    txn.set(root.outcome_count, place + 1);
  }
  const bool at_end = place + 1 >= root.outcomes.capacity || place + 1 >= kOutcomesMax;
  txn.set(root.outcome_next, at_end ? 0 : place + 1);
  put(txn, slot.id, outcome.id);
  put(txn, slot.event_position, outcome.event_position);
  put(txn, slot.at_wall_ms, outcome.at_wall_ms);
  put(txn, slot.attempts, outcome.attempts);
  put(txn, slot.verdict, static_cast<uint8_t>(outcome.verdict));
  index.insert(txn, place, slot, root.outcome_count);
}

uint32_t outcome_find(const Region& region, uint64_t id) {
  const OutcomeIndex index(OutcomeIndexKind{&region});
  return index.find(hash_id(id), [&](const Outcome& outcome) { return outcome.id == id; });
}

}  // namespace fq
