#include "core/local/push/pusher.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/engine/message_checks.h"
#include "core/base/fault_point.h"
// fq, this room.
#include "core/local/shared/sleep.h"

namespace fq {

Result<void> Pusher::push_once(std::span<const NewMessage> messages, const PushOptions& options,
                               PushReply& reply) {
  if (messages.empty()) return {};
  if (messages.size() > kBatchMessagesMax) {
    return Error{ErrorKind::usage, "batch: has more than " + std::to_string(kBatchMessagesMax) + " messages",
                 0};
  }
  const uint64_t payload_bytes_max = header().settings.payload_bytes_max.peek();
  for (size_t i = 0; i < messages.size(); ++i) {
    Result<void> checked = check_message(messages[i], payload_bytes_max);
    if (!checked.ok()) return at_item(std::move(checked).error(), i);
  }
  const bool lazy =
      options.durability == Durability::lazy || (options.durability == Durability::policy && syncs_lazily());
  if (std::any_of(messages.begin(), messages.end(), has_terms)) {
    FQ_TRY_SET(reply, keyed_.push(messages, lazy));
    return {};
  }
  FQ_TRY_SET(const Appended appended, pushes_.append(messages, {}, lazy, {}));
  Result<void> durable = lazy ? Result<void>() : flusher().wait_durable(appended.end);
  FQ_POINT("push.durable");
  const PushStatus status = durable.ok() ? PushStatus::accepted : PushStatus::unknown;
  if (!durable.ok()) reply.error = std::move(durable).error();
  reply.items.assign(messages.size(), {status, appended.first_id});
  PushResult* const results = reply.items.data();
  for (size_t i = 1; i < messages.size(); ++i) results[i].id = MessageId{number(appended.first_id) + i};
  return {};
}

Result<PushReply> Pusher::push(std::span<const NewMessage> messages, const PushOptions& options) {
  Result<PushReply> pushed{PushReply()};  // made where the caller takes it
  if (Result<void> done = push_into(messages, options, *pushed); !done.ok()) pushed = std::move(done).error();
  return pushed;
}

Result<void> Pusher::push_into(std::span<const NewMessage> messages, const PushOptions& options,
                               PushReply& reply) {
  const int64_t deadline_ms =
      options.wait_ms ? clock().boot_ms() + std::min(*options.wait_ms, kWaitMaxMs) : kNever;
  for (;;) {
    const WaiterCounted counted(options.block ? &header().end_waiters : nullptr);
    const uint32_t seen = header().end_event.load(std::memory_order_acquire);
    admission_.begin();
    Result<void> pushed = push_once(messages, options, reply);
    if (pushed.ok() || !admission_.was_over_limit()) return pushed;
    if (admission_.never_fits()) {
      reply.items.assign(messages.size(), PushResult{PushStatus::full, {}});
      reply.error = std::move(pushed).error();
      return {};
    }
    if (!options.block) return but_could_wait(std::move(pushed).error());
    FQ_TRY_SET(const bool again, wait_for_room(options, deadline_ms, seen));
    if (!again) return pushed;
  }
}

/// Until something has ended, or `deadline_ms`. False: there is no point in trying again.
Result<bool> Pusher::wait_for_room(const PushOptions& options, int64_t deadline_ms, uint32_t seen) {
  const int64_t now_ms = clock().boot_ms();
  if (now_ms >= deadline_ms) return false;
  if (options.interrupt != nullptr && options.interrupt->raised()) return false;
  FQ_TRY(link_.attachment().check_place());
  int64_t timer_ms = kNever;
  FQ_TRY(locked([&]() -> Result<void> {
    timer_ms = schedule().timers().next_ms();
    return {};
  }));
  watcher_.sleep_until_end(options.interrupt, seen, std::min(deadline_ms, timer_ms));
  return true;
}

}  // namespace fq
