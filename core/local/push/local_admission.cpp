// local_admission - whether there is room for what is pushed: max_messages and max_bytes of the queue and of
// every node of a tenant's path, exact also for what is accepted and not linked yet.
#include "core/local/local_queue.h"

// System.
#include <algorithm>
#include <map>
// fq, below us.
#include "core/base/text/counted.h"
// fq, this room.
#include "core/local/shared/sleep.h"

namespace fq {

namespace {

/// Of "a/b/c": "", "a", "a/b", "a/b/c".
template <class Visit>
void visit_path(std::string_view tenant, Visit&& visit) {
  visit(std::string_view());
  for (size_t end = tenant.find('/'); end != std::string_view::npos; end = tenant.find('/', end + 1)) {
    visit(tenant.substr(0, end));
  }
  visit(tenant);
}

}  // namespace

/// Sums over items_, by path.
std::vector<LocalQueue::Arrival> LocalQueue::arrivals() const {
  std::map<std::string_view, Arrival> by_path;
  for (const MessageItem& item : items_) {
    visit_path(item.tenant, [&](std::string_view path) {
      Arrival& arrival = by_path[path];
      arrival.path = path;
      arrival.messages += 1;
      arrival.bytes += item.payload_bytes;
    });
  }
  std::vector<Arrival> all;
  for (const auto& [path, arrival] : by_path) all.push_back(arrival);
  return all;
}

/// What is accepted at this path and not linked yet. Needs: the lock.
LocalQueue::Arrival LocalQueue::pending_at(std::string_view path) {
  Arrival pending{path, 0, 0};
  gate().visit_pending([&](const MessageItem& item) {
    visit_path(item.tenant, [&](std::string_view at) {
      if (at != path) return;
      pending.messages += 1;
      pending.bytes += item.payload_bytes;
    });
  });
  return pending;
}

/// Which limit stands in the way, if any. Needs: the lock.
std::optional<Error> LocalQueue::refuse_over_limit(std::span<const Arrival> arrivals) {
  if (header().policy.draining != 0) {
    return Error{ErrorKind::later,
                 object() + ": is draining and takes no more; run fq queue resume to end that", 0};
  }
  for (const Arrival& arrival : arrivals) {
    const Schedule::Holding holding = schedule().holding_of(arrival.path);
    const bool unlimited = holding.messages_max == UINT64_MAX && holding.bytes_max == UINT64_MAX;
    if (unlimited) continue;
    uint64_t messages = holding.messages;
    uint64_t bytes = holding.bytes;
    // Only near the limit, or each batch would walk what is pending once for each of its tenants.
    const uint64_t pending_messages = header().pending_messages;
    const bool near = holding.bytes_max != UINT64_MAX ||
                      messages + arrival.messages + pending_messages > holding.messages_max;
    if (pending_messages != 0 && near) {
      const Arrival pending = pending_at(arrival.path);
      messages += pending.messages;
      bytes += pending.bytes;
    }
    // A payload that takes another's place is no message more, and may be no byte more.
    const bool grows = arrival.messages != 0 || arrival.bytes != 0;
    const bool too_many = arrival.messages != 0 && messages + arrival.messages > holding.messages_max;
    const bool too_large = grows && bytes + arrival.bytes > holding.bytes_max;
    if (!too_many && !too_large) continue;
    over_limit_ = true;
    const std::string who = arrival.path.empty() ? object() : "tenant '" + std::string(arrival.path) + "'";
    const std::string what = too_many ? counted(messages, "message") + ", the limit is " +
                                            std::to_string(holding.messages_max) + " (max_messages)"
                                      : counted(bytes, "byte") + ", the limit is " +
                                            std::to_string(holding.bytes_max) + " (max_bytes)";
    return Error{ErrorKind::later, who + ": has " + what + "; try again when some are done, or use --block",
                 0};
  }
  return std::nullopt;
}

Result<PushReply> LocalQueue::push(std::span<const NewMessage> messages, const PushOptions& options) {
  const int64_t deadline_ms =
      options.wait_ms ? clock().boot_ms() + std::min(*options.wait_ms, kWaitMaxMs) : kNever;
  for (;;) {
    const WaiterCounted counted(options.block ? &header().end_waiters : nullptr);
    const uint32_t seen = header().end_event.load(std::memory_order_acquire);
    over_limit_ = false;
    Result<PushReply> pushed = push_once(messages, options);
    if (pushed.ok() || !over_limit_ || !options.block) return pushed;
    FQ_TRY_SET(const bool again, wait_for_room(options, deadline_ms, seen));
    if (!again) return pushed;
  }
}

/// Until something has ended, or `deadline_ms`. False: there is no point in trying again.
Result<bool> LocalQueue::wait_for_room(const PushOptions& options, int64_t deadline_ms, uint32_t seen) {
  const int64_t now_ms = clock().boot_ms();
  if (now_ms >= deadline_ms) return false;
  if (options.interrupt != nullptr && options.interrupt->raised()) return false;
  int64_t timer_ms = kNever;
  FQ_TRY(locked([&]() -> Result<void> {
    timer_ms = schedule().next_timer_ms();
    return {};
  }));
  watcher_.sleep_until_end(options.interrupt, seen, std::min(deadline_ms, timer_ms));
  return true;
}

}  // namespace fq
