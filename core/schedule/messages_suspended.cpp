// messages_suspended - messages whose job sleeps: see messages.h.
#include "core/schedule/messages.h"

// fq, this room.
#include "core/schedule/states/dependents.h"
#include "core/schedule/states/state.h"

namespace fq {

void Messages::suspend(Txn& txn, SlotIndex index, const Suspension& suspension) const {
  Entry& entry = region_.entry(static_cast<uint32_t>(index));
  if (state_of(entry) != SlotState::leased) return;
  Extra& extra = give_extra(txn, region_, entry);
  const uint32_t others = extra.flags & ~(kExtraWaitFailed | kExtraFromRelease);
  put(txn, extra.flags, others | kExtraSuspended | (suspension.failed ? kExtraWaitFailed : 0));
  put(txn, extra.due_ms, suspension.due_ms);
  Dependents(region_).add(txn, index, suspension.after, false);
}

bool Messages::is_suspended(const Entry& entry) const {
  if (state_of(entry) != SlotState::leased || !has_extra(entry)) return false;
  return (region_.extra(entry.rank).flags & kExtraSuspended) != 0;
}

bool Messages::has_failed_wait(const Entry& entry) const {
  if (!has_extra(entry)) return false;
  const Extra& extra = region_.extra(entry.rank);
  return (extra.flags & kExtraWaitFailed) != 0 || Waits(region_).has_failed(extra);
}

}  // namespace fq
