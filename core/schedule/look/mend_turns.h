// mend_turns - the turns of a schedule that was copied a piece at a time, made anew.
//
// Each element is whole, but two of them may be of different moments, so no link can be trusted: lanes and
// rings are put together from what each message and each node says of itself. A node that does not fit (its
// parent came later) is left out of the rings. Where nothing changed while it was copied, the turns are those
// of the original. Only for memory that no other process sees.
#pragma once

// System.
#include <vector>
// fq, this room.
#include "core/schedule/schedule.h"

namespace fq {

/// Returns what is ready, by tenant and in its order, whether its tenant has a turn or not. Allocates.
std::vector<SlotIndex> mend_turns(Txn& txn, const Schedule& schedule);

}  // namespace fq
