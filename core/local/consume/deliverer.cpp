#include "core/local/consume/deliverer.h"

// fq, this room.
#include "core/local/files/blobs.h"
#include "core/local/read/item_view.h"

namespace fq {

Result<void> Deliverer::deliver(std::span<TakenMessage> taken, LeaseReply& reply) {
  reply.deliveries.reserve(taken.size());
  size_t inline_bytes = 0;
  for (const TakenMessage& one : taken) inline_bytes += one.inline_bytes;
  PayloadMemory memory(inline_bytes);
  for (size_t i = 0; i < taken.size(); ++i) {
    Result<void> delivered = deliver_one(taken[i], memory, reply);
    if (delivered.ok()) continue;
    // Nobody gets what could not be read: it goes back at once, instead of when a lease is over.
    return_leases(taken.subspan(i));
    // What could be read is served; the next lease meets the fault again, and says it.
    return reply.deliveries.empty() ? std::move(delivered) : Result<void>();
  }
  return {};
}

Result<void> Deliverer::deliver_one(TakenMessage& one, PayloadMemory& memory, LeaseReply& reply) {
  FQ_TRY_SET(const bool whole, messages_.read(one));
  if (!whole) {
    FQ_TRY_SET(const std::string what, messages_.what_is_lost(one));
    return set_aside(one, what, reply);
  }
  Delivery& delivery = reply.deliveries.emplace_back();
  if (Result<void> has = messages_.payload(memory, delivery.payload); !has.ok()) {
    reply.deliveries.pop_back();
    if (is_lost(has.error())) return set_aside(one, lost_payload_text(has.error()), reply);
    return has;
  }
  delivery.receipt = Receipt(one.id, one.serial, mark(), one.slot);
  delivery.id = MessageId{one.id};
  delivery.tenant.append(messages_.item().tenant);  // it is empty; assign() asks more
  delivery.attempt = one.attempts + 1U;
  delivery.attempts_max = one.attempts_max;
  delivery.delivery = one.deliveries;
  delivery.crashes = one.crashes;
  delivery.priority = messages_.item().priority;
  describe_delivery(messages_.item(), delivery);
  delivery.pushed_at_wall_ms = messages_.item().pushed_wall_ms;
  if (one.until_wall_ms != 0) delivery.deadline_wall_ms = one.until_wall_ms;
  return {};
}

void Deliverer::return_leases(std::span<const TakenMessage> taken) {
  std::vector<Settle> items(taken.size());
  for (size_t i = 0; i < taken.size(); ++i) {
    items[i].receipt = Receipt(taken[i].id, taken[i].serial, mark(), taken[i].slot);
    items[i].verdict = Verdict::release;
  }
  // It follows an error already; where it fails too, the end of the lease gives them back.
  SettleReply given;
  settler_.settle(items, given);
}

/// What is lost costs its message its delivery, and nothing else: it goes to the dead letters, and is told.
Result<void> Deliverer::set_aside(const TakenMessage& taken, const std::string& what, LeaseReply& reply) {
  Settle bury;
  bury.receipt = Receipt(taken.id, taken.serial, mark(), taken.slot);
  bury.verdict = Verdict::bury;
  bury.reason = what;
  SettleReply buried;
  settler_.settle(std::span(&bury, 1), buried);
  if (buried.error) return std::move(*buried.error);
  if (buried.items[0] != SettleStatus::ok) return {};  // somebody else has decided meanwhile
  reply.lost.emplace_back(MessageId{taken.id});
  notice(message_object(taken.id) + ": " + what + "; buried, see fq check");
  return {};
}

}  // namespace fq
