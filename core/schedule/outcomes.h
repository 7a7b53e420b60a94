// outcomes - how the last messages ended, so that a wait or a show can be answered after the end.
//
// A ring of at most kOutcomesMax: the oldest gives its place to the newest. It has room for every message
// that is alive (growth follows the pushes), so it is never cut short, and finishing needs no room.
#pragma once

// fq, this room.
#include "core/schedule/region.h"

namespace fq {

struct NewOutcome {
  uint64_t id;
  uint64_t event_position;
  int64_t at_wall_ms;
  uint16_t attempts;
  RecordType verdict;
};

/// Two steps.
void outcome_add(Txn& txn, const Region& region, const NewOutcome& outcome);
/// The place of this message's outcome, or kNoIndex.
uint32_t outcome_find(const Region& region, uint64_t id);

}  // namespace fq
