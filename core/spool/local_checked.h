// local_checked - what a look at everything has found, for people and for who is to repair it.
#pragma once

// fq, this room.
#include "core/spool/local_queue.h"

namespace fq {

struct LocalQueue::Checked {
  CheckReport report;
  bool segment_is_whole = true;
  bool differs = false;  // segment and journal
  std::vector<JournalDamage> damage;
  bool unknown_files = false;  // which nobody but a person may touch
};

}  // namespace fq
