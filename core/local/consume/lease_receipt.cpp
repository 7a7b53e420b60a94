#include "core/local/consume/lease_receipt.h"

// fq, below us.
#include "core/api/receipt.h"

namespace fq {

SettleStatus judge_receipt(Link& link, const Receipt& receipt, const Now& now,
                           std::optional<SlotIndex>& slot) {
  const std::optional<ReceiptParts> parsed = receipt.parts();
  if (!parsed) return SettleStatus::invalid;
  if (!is_text_of(link.mark(), parsed->mark)) return SettleStatus::foreign;
  slot = link.schedule().messages().find(MessageId{parsed->id}, parsed->place);
  if (!slot) return SettleStatus::gone;
  const Entry& entry = link.schedule().messages().entry(*slot);
  const bool leased = static_cast<SlotState>(entry.state.get()) == SlotState::leased;
  // A lease whose time is over is over, also when its timer has not been fired yet.
  const bool held = leased && entry.serial == parsed->serial && entry.at_ms > now.boot_ms;
  // Its job sleeps: whoever holds it gives it back, and nobody else has a say any more.
  const bool others = held && link.schedule().messages().is_suspended(entry) &&
                      (!link.holder() || HolderIndex{entry.holder.get()} != *link.holder());
  if (others) slot.reset();
  if (others) return SettleStatus::stale;
  if (!held) slot.reset();
  return held ? SettleStatus::ok : SettleStatus::stale;
}

uint64_t message_under(const Receipt& receipt) {
  const std::optional<ReceiptParts> parts = receipt.parts();
  return parts ? parts->id : 0;
}

}  // namespace fq
