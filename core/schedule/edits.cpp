// edits - see edits.h.
#include "core/schedule/edits.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/schedule/states/dependents.h"
#include "core/schedule/rings/costs.h"
#include "core/schedule/states/state.h"

namespace fq {

Need Edits::need_of(std::string_view key) {
  Need need;
  need.extras = 1;
  if (!key.empty()) need.text_cells = text_cells(key.size() + kKeyTailBytes);
  return need;
}

/// One that had no Extra has one from now on where it needs it.
void Edits::set_rank(Txn& txn, Entry& entry, const Edit& edit) const {
  if ((entry.flags & kEntryKeyed) != 0) text_remove(txn, region_, rank_of(region_, entry));
  const uint32_t rank = rank_add(txn, region_, edit.key, edit.priority);
  int flags = entry.flags & ~kEntryKeyed;
  if (!edit.key.empty()) flags |= kEntryKeyed;
  if (has_extra(entry)) {
    Extra& extra = region_.extra(entry.rank);
    put(txn, extra.rank, rank);
    put(txn, extra.ttl_ms, edit.ttl_ms);
    put(txn, extra.due_ms, edit.due_ms);
    const uint32_t others = extra.flags & ~(kExtraFromRelease | kExtraTransits);
    put(txn, extra.flags, others | (edit.from_release ? kExtraFromRelease : 0) | edit.transit);
  } else {
    put(txn, entry.rank, rank);
  }
  put(txn, entry.flags, static_cast<uint8_t>(flags));
  if (has_extra(entry) || (edit.ttl_ms == kNever && edit.transit == 0)) return;
  Extra& extra = give_extra(txn, region_, entry);
  txn.fresh(extra.ttl_ms, edit.ttl_ms);
  txn.fresh(extra.due_ms, edit.due_ms);
  txn.fresh(extra.flags, edit.transit);
}

void Edits::set_values(Txn& txn, const Message& message, const Edit& edit) const {
  Entry& entry = message.entry;
  set_rank(txn, entry, edit);
  put(txn, entry.deliveries, edit.deliveries);
  put(txn, entry.attempts, edit.attempts);
  put(txn, entry.attempts_max, edit.attempts_max);
  put(txn, entry.crashes, static_cast<uint8_t>(std::min<uint16_t>(edit.crashes, UINT8_MAX)));
  const int flags = entry.flags & ~(kEntryJob | kEntryOwnAttempts);
  put(txn, entry.flags,
      static_cast<uint8_t>(flags | edit.job_flags | (edit.own_attempts ? kEntryOwnAttempts : 0)));
  States(region_).set_size(txn, message, {edit.payload_bytes, edit.blob, overhead_code(edit.overhead_bytes)});
}

void Edits::apply(Txn& txn, SlotIndex index, const Edit& edit) const {
  const Message message = region_.message(static_cast<uint32_t>(index));
  const SlotState from = state_of(message.entry);
  const States states(region_);
  if (from == SlotState::ready && edit.state == from)
    return states.reorder(txn, message, [&] { set_values(txn, message, edit); });
  // Of these no structure knows more than that they are there.
  const bool stays = from == edit.state && (from == SlotState::held || from == SlotState::dead);
  if (stays) return set_values(txn, message, edit);
  const bool was_idle = is_gathering(message.tenant);
  states.leave(txn, message);
  if (from == SlotState::ready && !was_idle) Costs(region_).note_idle(txn, message.entry.tenant, edit.now_ms);
  set_values(txn, message, edit);
  switch (edit.state) {
    case SlotState::delayed:
      return states.enter_delayed(txn, message, edit.at_ms);
    case SlotState::dead:
      return states.enter_dead(txn, message, edit.at_ms);
    case SlotState::held:
      // The ids that a dead one came after mean nothing in another queue.
      if (edit.transit != 0) Waits(region_).drop(txn, region_.extra(message.entry.rank));
      if (edit.transit != 0) return states.enter_held(txn, message, edit.at_ms);
      if (!has_extra(message.entry)) throw RegionDamaged{"a message is held and waits for nothing"};
      Dependents(region_).hold_again(txn, region_.extra(message.entry.rank));
      return states.enter_held(txn, message, edit.at_ms);
    default:
      return states.enter_ready(txn, message, edit.at_ms);
  }
}

}  // namespace fq
