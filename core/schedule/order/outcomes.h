// outcomes - the last messages' outcomes, kept so that a wait or a show can be answered after the end.
//
// A message that has ended keeps its slot and its place in the id index until kOutcomesMax others have ended
// after it: finishing needs no room, and no message reserves any for its outcome.
//
// Invariants
//  O1  The list, from first_outcome by next, holds outcome_count slots whose state is free, oldest first.
//  O2  Each of them is found by its id; they and the messages are all that the id index holds.
#pragma once

// fq, this room.
#include "core/schedule/memory/region.h"

namespace fq {

/// When and where a message ends.
struct MessageEnd {
  uint64_t event_position = 0;
  int64_t now_ms = 0;
  int64_t at_wall_ms = 0;
};

struct Outcome {
  RecordType verdict;
  uint64_t event_position;
  int64_t at_wall_ms;
  uint16_t attempts = 0;
};

/// The oldest is forgotten, since another one has come: there are as many as there can be. One step.
void outcome_replace_oldest(Txn& txn, const Region& region);

/// Turns a message that lies in no structure any more into its outcome, which keeps the attempts that it has;
/// the oldest may give way. Two steps. In line: each end of a message comes here.
[[gnu::always_inline]] inline void outcome_add(Txn& txn, const Region& region, uint32_t slot,
                                               const Opened<Entry>& entry, const Outcome& outcome) {
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
  outcome_replace_oldest(txn, region);
}
/// An outcome that another schedule remembers becomes the newest here. Needs: room for it, and fewer than
/// kOutcomesMax. Two steps.
void outcome_copy(Txn& txn, const Region& region, uint64_t id, const Outcome& outcome);
/// The oldest is forgotten. Needs: there is one. Two steps.
void outcome_forget(Txn& txn, const Region& region);
/// The slot of this message's outcome, or kNoIndex.
uint32_t outcome_find(const Region& region, uint64_t id);
Outcome outcome_at(const Region& region, uint32_t slot);

}  // namespace fq
