#include "core/local/consume/watcher.h"

// System.
#include <algorithm>
#include <bitset>
// fq, below us.
#include "core/api/receipt.h"
#include "core/engine/message_checks.h"
// fq, this room.
#include "core/local/read/event_walk.h"
#include "core/local/shared/sleep.h"

namespace fq {

namespace {

// Under one hold of the lock: chosen.
constexpr size_t kEndsPerLook = 256;
constexpr size_t kLeasesPerLook = 1024;
constexpr uint32_t kControlsPerLook = 4096;
constexpr int kIdleTries = 4;  // against a queue that changes
constexpr size_t kEnded = SIZE_MAX;

}  // namespace

void Watcher::watch(std::span<const TakenMessage> taken) {
  for (const TakenMessage& one : taken) watched_[one.id] = {one.id, one.serial, one.event_position};
}

/// What others made of a lease since it was last looked at; `lease` is as it is now. Needs: the lock.
std::optional<LeaseChange::What> Watcher::change_of(WatchedLease& lease) {
  const std::optional<SlotIndex> slot = schedule().messages().find(MessageId{lease.id});
  const Entry* entry = slot ? &schedule().messages().entry(*slot) : nullptr;
  const bool held = entry != nullptr && entry->serial == lease.serial &&
                    static_cast<SlotState>(entry->state.get()) == SlotState::leased;
  if (held && entry->event_position == lease.event_position) return std::nullopt;
  if (held) lease.event_position = entry->event_position;
  if (held) return LeaseChange::What::extended;
  const auto outcome = slot ? std::nullopt : schedule().past().outcome(MessageId{lease.id});
  const bool cancelled = outcome && outcome->verdict == RecordType::cancelled;
  return cancelled ? LeaseChange::What::cancelled : LeaseChange::What::ended;
}

Result<void> Watcher::find_changes(LeaseReply& reply) {
  if (std::exchange(watched_segment_, link_.segments_seen()) != link_.segments_seen())
    watched_carried_ = true;
  if (watched_.empty()) watched_carried_ = false;
  if (watched_.empty()) return {};
  const auto changes = [this] { return link_.holder_slot().changes.peek(); };
  if (!watched_carried_ && link_.holder() && changes() == changes_seen_) return {};
  struct Changed {
    WatchedLease lease;
    LeaseChange::What what;
  };
  std::vector<WatchedLease> watched;
  for (const auto& [id, lease] : watched_) watched.push_back(lease);
  std::vector<Changed> changed;
  changed.reserve(watched.size());  // nothing is allocated under the lock
  uint32_t seen = changes_seen_;
  for (size_t from = 0; from < watched.size(); from += kLeasesPerLook) {
    const size_t known = changed.size();
    FQ_TRY(locked([&]() -> Result<void> {
      changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(known), changed.end());
      if (from == 0 && link_.holder()) seen = changes();
      for (WatchedLease lease :
           std::span(watched).subspan(from, std::min(kLeasesPerLook, watched.size() - from))) {
        const std::optional<LeaseChange::What> what = change_of(lease);
        if (what) changed.push_back({lease, *what});
      }
      return {};
    }));
  }
  for (const auto& [lease, what] : changed) {
    const Receipt receipt(lease.id, lease.serial, mark());
    if (what != LeaseChange::What::extended) {
      watched_.erase(lease.id);
      reply.changes.push_back({receipt, what, 0});
      continue;
    }
    FQ_TRY(walk_events(
        link_, lease.id, lease.event_position,
        [&](RecordType type, int64_t, const EventDetail& detail, uint64_t, EventSource) {
          if (type == RecordType::extended) {
            const int64_t left_ms = store().boot_of(detail.until_wall_ms) - clock().boot_ms();
            reply.changes.push_back({receipt, LeaseChange::What::extended, std::max<int64_t>(0, left_ms)});
          }
          return false;
        }));
    watched_[lease.id] = lease;
  }
  // Where a fault came in between, those that were not told are found by the next look.
  changes_seen_ = seen;
  return {};
}

/// Whether nothing is left to do but what is paused, whose settings are looked at in parts. Where something
/// happens meanwhile it begins anew; a queue that does not stand still is not idle.
Result<bool> Watcher::is_idle() {
  bool idle = false;
  uint64_t paused = 0, tail = 0, beside = 0;
  uint32_t from = 0;
  int begun = 0;
  for (bool more = true; more;) {
    FQ_TRY(locked([&]() -> Result<void> {
      gate().fire_timers(gate().now());
      more = false;
      idle = schedule().views().may_be_idle() && header().pending_messages == 0;
      const bool same = tail == header().tail && beside == schedule().views().ready_beside_paused();
      if (from == 0 || !same) {
        if (++begun > kIdleTries) idle = false;
        tail = header().tail;
        beside = schedule().views().ready_beside_paused();
        from = 0;
        paused = 0;
      }
      if (!idle || beside == 0) return {};
      const uint32_t to = std::min(schedule().views().controls_end(), from + kControlsPerLook);
      paused += schedule().views().paused_ready(from, to);
      more = to < schedule().views().controls_end();
      idle = paused == beside;
      from = to;
      return {};
    }));
  }
  return idle;
}

/// Needs: the lock.
bool Watcher::has_ended(MessageId id) {
  const std::optional<SlotIndex> slot = schedule().messages().find(id);
  if (slot) return static_cast<SlotState>(schedule().messages().entry(*slot).state.get()) == SlotState::dead;
  // Accepted, but not in the schedule yet.
  const bool pending = number(id) < header().next_id && header().pending_messages > 0;
  return !pending || schedule().past().outcome(id).has_value();
}

/// Of one that has ended; none: nobody knows. Needs: the lock.
std::optional<State> Watcher::end_of(MessageId id) {
  if (schedule().messages().find(id)) return State::dead;
  const std::optional<Outcome> outcome = schedule().past().outcome(id);
  if (!outcome) return std::nullopt;
  if (outcome->verdict == RecordType::left) return State::moved;
  return outcome->verdict == RecordType::acked ? State::acked : State::cancelled;
}

/// So many have ended since all were looked at that soon it is not known any more how. Needs: the lock.
bool Watcher::may_forget(const OpenEnds& open) {
  const uint64_t ends = schedule().past().end_count();
  return ends < open.ends_then || ends - open.ends_then > schedule().root().outcome_count / 2;
}

/// Finds more of them that have ended. Mostly it looks from the first on as far as one that has not; at all
/// of them only before the queue forgets how they ended, so that each end costs one look.
Result<bool> Watcher::scan_ends(const EndRequest& request, OpenEnds& open, int64_t& timer_ms) {
  FQ_TRY(reaper_.reap_all(gate().now()));
  if (request.until_idle) {
    FQ_TRY_SET(const bool idle, is_idle());
    FQ_TRY(
        locked([&]() -> Result<void> { return timer_ms = schedule().timers().next_ms(), Result<void>(); }));
    return idle;
  }
  bool all = false;
  FQ_TRY(locked([&]() -> Result<void> {
    all = !open.looked || may_forget(open);
    if (all) open.ends_then = schedule().past().end_count();
    return {};
  }));
  open.looked = true;
  std::vector<size_t>& places = open.places;
  bool stuck = false;
  for (size_t from = open.first; from < places.size() && (all || !stuck); from += kEndsPerLook) {
    const size_t to = std::min(from + kEndsPerLook, places.size());
    std::bitset<kEndsPerLook> ended;
    FQ_TRY(locked([&]() -> Result<void> {
      gate().fire_timers(gate().now());
      timer_ms = schedule().timers().next_ms();
      ended.reset();
      for (size_t i = from; i < to && (all || i == from || ended[i - from - 1]); ++i) {
        const MessageId id = request.ids[places[i]];
        ended[i - from] = has_ended(id);
        if (ended[i - from] && !request.ends.empty()) request.ends[places[i]] = end_of(id);
      }
      return {};
    }));
    for (size_t i = from; i < to; ++i)
      if (ended[i - from]) places[i] = kEnded;
    stuck = !ended[to - from - 1];
  }
  if (all) {
    places.erase(std::remove(places.begin() + static_cast<std::ptrdiff_t>(open.first), places.end(), kEnded),
                 places.end());
  }
  while (open.first < places.size() && places[open.first] == kEnded) ++open.first;
  return open.first == places.size();
}

Result<EndStatus> Watcher::await_end(const EndRequest& request) {
  FQ_TRY(check_ends(request));
  const int64_t deadline_ms =
      request.wait_ms ? clock().boot_ms() + std::min(*request.wait_ms, kWaitMaxMs) : kNever;
  OpenEnds open;
  for (size_t i = 0; i < request.ids.size(); ++i)
    if (request.ends.empty() || !request.ends[i]) open.places.push_back(i);
  for (;;) {
    SegmentHeader& shared = header();
    const WaiterCounted counted(&shared.end_waiters);
    const uint32_t seen = shared.end_event.load(std::memory_order_acquire);
    int64_t timer_ms = kNever;
    FQ_TRY_SET(const bool ended, scan_ends(request, open, timer_ms));
    // An end is told only once it can no longer be lost.
    if (ended && !syncs_lazily()) {
      FQ_TRY(link_.wait_all_durable());
    }
    if (ended) return EndStatus::ended;
    if (request.interrupt != nullptr && request.interrupt->raised()) return EndStatus::interrupted;
    if (clock().boot_ms() >= deadline_ms) return EndStatus::timed_out;
    FQ_TRY(link_.attachment().check_place());
    sleep_until_end(request.interrupt, seen, std::min(deadline_ms, timer_ms));
  }
}

/// At most until then; also when interrupted.
void Watcher::sleep_until_end(Interrupt* interrupt, uint32_t seen, int64_t until_ms) {
  SegmentHeader& shared = header();
  const int64_t now_ms = clock().boot_ms();
  const int64_t wait_ms =
      until_ms == kNever ? kWaitCapMs : std::min(kWaitCapMs, std::max<int64_t>(0, until_ms - now_ms));
  std::array<WatchedWord, 2> words = {{{&shared.end_event, seen}, {&shared.end_event, seen}}};
  if (interrupt != nullptr) words[1] = {interrupt->word(), 0};
  const SignalsAllowed allowed(true);
  sleep_on(words, shared.end_event, seen, wait_ms);
}

}  // namespace fq
