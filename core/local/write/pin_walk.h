// pin_walk - a walk through all that only old records tell, to write it down anew: keys, settings, payloads
// that replaced others. Where the walk is stands in the segment, so any process goes on with it.
#pragma once

// fq, this room.
#include "core/local/shared/pins.h"
#include "core/local/write/link.h"

namespace fq {

/// False: the oldest file is not pinned by it. Needs: the lock.
bool begin_walk(Link& link, Pin& pin);
/// Elements before `next` were written down anew, and noted where the record of that is what tells of them;
/// `at_end`: those are all. Where nothing was noted since the walk began there is nothing left to walk for.
void note_walked(Txn& txn, Pin& pin, uint32_t next, bool at_end);

}  // namespace fq
