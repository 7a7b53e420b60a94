// local_watch - what others do to what we hold or wait for: leases ended or extended under us, messages that
// end, a queue that has nothing left to do.
#include "core/spool/local_queue.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/spool/sleep.h"

namespace fq {

namespace {

constexpr size_t kEndsPerLook = 256;  // looked for under one hold of the lock

}  // namespace

void LocalQueue::watch(std::span<const TakenMessage> taken) {
  for (const TakenMessage& one : taken) watched_.push_back({one.id, one.serial, one.event_position});
}

void LocalQueue::unwatch(uint64_t id) {
  const auto found = std::find_if(watched_.begin(), watched_.end(),
                                  [id](const WatchedLease& lease) { return lease.id == id; });
  if (found == watched_.end()) return;
  *found = watched_.back();
  watched_.pop_back();
}

Result<void> LocalQueue::find_changes(LeaseReply& reply) {
  if (watched_.empty()) watched_carried_ = false;
  if (watched_.empty()) return {};
  const auto changes = [this] { return header().holders[static_cast<uint16_t>(*holder_)].changes.peek(); };
  if (!watched_carried_ && holder_ && changes() == changes_seen_) return {};
  struct Changed {
    WatchedLease lease;
    LeaseChange::What what;
  };
  std::vector<Changed> changed;
  changed.reserve(watched_.size());  // nothing is allocated under the lock
  FQ_TRY(locked([&]() -> Result<void> {
    changed.clear();
    if (holder_) changes_seen_ = changes();
    for (WatchedLease lease : watched_) {
      const std::optional<SlotIndex> slot = schedule().find(MessageId{lease.id});
      const Entry* entry = slot ? &schedule().entry(*slot) : nullptr;
      const bool held = entry != nullptr && entry->serial == lease.serial &&
                        static_cast<SlotState>(entry->state.get()) == SlotState::leased;
      if (held && entry->event_position == lease.event_position) continue;
      if (held) lease.event_position = entry->event_position;
      const auto outcome = slot ? std::nullopt : schedule().outcome(MessageId{lease.id});
      const bool cancelled = outcome && outcome->verdict == RecordType::cancelled;
      const auto ended = cancelled ? LeaseChange::What::cancelled : LeaseChange::What::ended;
      changed.push_back({lease, held ? LeaseChange::What::extended : ended});
    }
    return {};
  }));
  for (const auto& [lease, what] : changed) {
    unwatch(lease.id);
    const Receipt receipt{receipt_text(lease.id, lease.serial)};
    if (what != LeaseChange::What::extended) {
      reply.changes.push_back({receipt, what, 0});
      continue;
    }
    watched_.push_back(lease);
    FQ_TRY(
        walk_events(lease.id, lease.event_position,
                    [&](RecordType type, int64_t, const EventDetail& detail, uint64_t, EventSource) {
                      if (type == RecordType::extended) {
                        reply.changes.push_back({receipt, LeaseChange::What::extended, detail.until_wall_ms});
                      }
                      return false;
                    }));
  }
  if (!reply.changes.empty()) reply.why_empty = WhyEmpty::changed;
  return {};
}

/// Needs: the lock.
bool LocalQueue::is_idle() { return schedule().is_idle() && header().pending_messages == 0; }

Result<void> LocalQueue::look_idle(LeaseReply& reply) {
  return locked([&]() -> Result<void> {
    gate().fire_timers(gate().now());
    if (is_idle()) reply.why_empty = WhyEmpty::idle;
    return {};
  });
}

/// Needs: the lock.
bool LocalQueue::has_ended(MessageId id) {
  const std::optional<SlotIndex> slot = schedule().find(id);
  if (slot) return static_cast<SlotState>(schedule().entry(*slot).state.get()) == SlotState::dead;
  // Accepted, but not in the schedule yet.
  const bool pending = number(id) < header().next_id && header().pending_messages > 0;
  return !pending || schedule().outcome(id).has_value();
}

/// Of request.ids the first `ended_count` are known to have ended; more of them are found, in their order.
Result<bool> LocalQueue::look_at_ends(const EndRequest& request, size_t& ended_count, int64_t& timer_ms) {
  FQ_TRY(reap_dead(gate().now()));
  bool ended = false;
  bool stuck = false;
  while (!ended && !stuck) {
    FQ_TRY(locked([&]() -> Result<void> {
      gate().fire_timers(gate().now());
      timer_ms = schedule().next_timer_ms();
      const size_t end = std::min(ended_count + kEndsPerLook, request.ids.size());
      while (ended_count < end && has_ended(request.ids[ended_count])) ++ended_count;
      stuck = request.until_idle || ended_count < end;
      ended = request.until_idle ? is_idle() : ended_count == request.ids.size();
      return {};
    }));
  }
  return ended;
}

Result<EndStatus> LocalQueue::await_end(const EndRequest& request) {
  const int64_t deadline_ms =
      request.wait_ms ? clock_.boot_ms() + std::min(*request.wait_ms, kWaitMaxMs) : kNever;
  size_t ended_count = 0;
  for (;;) {
    SegmentHeader& shared = header();
    const WaiterCounted counted(&shared.end_waiters);
    const uint32_t seen = shared.end_event.load(std::memory_order_acquire);
    int64_t timer_ms = kNever;
    FQ_TRY_SET(const bool ended, look_at_ends(request, ended_count, timer_ms));
    // An end is told only once it can no longer be lost.
    if (ended && !syncs_lazily()) {
      FQ_TRY(session_->flusher.wait_durable(header().committed_end.load(std::memory_order_acquire)));
    }
    if (ended) return EndStatus::ended;
    if (request.interrupt != nullptr && request.interrupt->raised()) return EndStatus::interrupted;
    if (clock_.boot_ms() >= deadline_ms) return EndStatus::timed_out;
    sleep_until_end(request.interrupt, seen, std::min(deadline_ms, timer_ms));
  }
}

/// At most until then; also when interrupted.
void LocalQueue::sleep_until_end(Interrupt* interrupt, uint32_t seen, int64_t until_ms) {
  SegmentHeader& shared = header();
  const int64_t now_ms = clock_.boot_ms();
  const int64_t wait_ms =
      until_ms == kNever ? kWaitCapMs : std::min(kWaitCapMs, std::max<int64_t>(0, until_ms - now_ms));
  std::array<WatchedWord, 2> words = {{{&shared.end_event, seen}, {&shared.end_event, seen}}};
  if (interrupt != nullptr) words[1] = {interrupt->word(), 0};
  const SignalsAllowed allowed(true);
  sleep_on(words, shared.end_event, seen, wait_ms);
}

}  // namespace fq
