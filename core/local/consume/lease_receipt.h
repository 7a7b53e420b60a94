// lease_receipt - the judgement of a receipt: whether it stands for a lease that still holds.
#pragma once

// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "core/local/write/link.h"

namespace fq {

/// ok, and in `slot` its message; else why not. Needs: the lock, and that timers were fired.
SettleStatus judge_receipt(Link& link, const Receipt& receipt, const Now& now,
                           std::optional<SlotIndex>& slot);

/// The message that it names; 0: it is no receipt.
uint64_t message_under(const Receipt& receipt);

}  // namespace fq
