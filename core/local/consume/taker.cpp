#include "core/local/consume/taker.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/fault_point.h"
// fq, this room.
#include "core/local/shared/sleep.h"

namespace fq {

namespace {

constexpr size_t kLeasesPerRecord = 64;
constexpr size_t kLeasedBytesAhead = 4096;  // of their record: nothing is allocated under the lock
// A group is taken under one hold of the lock, so that nobody else gets a part of it, unless it has more than
// these many records hold.
constexpr size_t kGroupRecords = 16;
constexpr int64_t kLazySyncMs = 100;
// A killed worker's jobs die with it, a moment later than it: at first it is looked often.
constexpr int64_t kOrphanSoonMs = 10;
constexpr int64_t kOrphanYoungMs = 200;
constexpr int64_t kOrphanLookMs = 50;  // how often it is looked whether a dead worker's job still lives

}  // namespace

Taker::Taker(Link& link, const Needs& needs)
    : Linked(link),
      writer_(needs.writer),
      upkeep_(needs.upkeep),
      endings_(needs.endings),
      resolver_(needs.resolver),
      dead_letters_(needs.dead_letters),
      holder_(needs.holder),
      reaper_(needs.reaper),
      watcher_(needs.watcher),
      deliverer_(link, needs.messages, needs.settler) {
  event_items_.reserve(kLeasesPerRecord);
  body_.bytes.reserve(kLeasedBytesAhead);
}

Result<void> Taker::lease_into(const LeaseRequest& request, LeaseReply& reply) {
  Now now = gate().now();
  const bool bounded = request.wait && request.wait_ms;
  const int64_t deadline_ms = bounded ? now.boot_ms + std::min(*request.wait_ms, kWaitMaxMs) : kNever;
  for (;; now = gate().now()) {
    const uint32_t seen = header().ready_event.load(std::memory_order_acquire);
    FQ_TRY(reaper_.reap_all(now));
    FQ_TRY(resolver_.resolve());
    FQ_TRY(dead_letters_.drop_old());
    FQ_TRY_SET(const bool more_due, upkeep_.make_due());
    const size_t lost = reply.lost.size();
    FQ_TRY(try_lease(request, now, reply));
    if (has_something(request, reply)) return {};
    // Behind what could not be read there may be something that can.
    const bool stopped = request.interrupt != nullptr && request.interrupt->raised();
    if (reply.lost.size() != lost && !stopped) continue;
    Result<void> looked = request.watch ? watcher_.find_changes(reply) : Result<void>();
    if (!reply.changes.empty()) return reply.why_empty = WhyEmpty::changed, Result<void>();
    FQ_TRY(std::move(looked));
    // Last: something accepted may wait behind a push whose process is gone, and nobody else would sync it.
    if (header().committed_end.load(std::memory_order_acquire) >
        header().ring_start.load(std::memory_order_acquire)) {
      uint64_t awaited_end = 0;
      FQ_TRY(locked([&]() -> Result<void> {
        if (header().servable_end < header().tail) awaited_end = header().tail;
        return {};
      }));
      if (awaited_end > 0) {
        FQ_TRY(flusher().wait_durable_of_others(awaited_end));
        FQ_TRY(try_lease(request, gate().now(), reply));
        if (has_something(request, reply)) return {};
        if (reply.lost.size() != lost) continue;
      }
    }
    reply.why_empty = WhyEmpty::nothing;
    if (!request.wait) return {};
    if (request.until_idle && !more_due) {
      FQ_TRY_SET(const bool idle, watcher_.is_idle());
      if (idle) reply.why_empty = WhyEmpty::idle;
    }
    if (reply.why_empty == WhyEmpty::idle) return {};
    reply.why_empty = WhyEmpty::timed_out;
    if (clock().boot_ms() >= deadline_ms) return {};
    reply.why_empty = WhyEmpty::interrupted;
    if (request.interrupt != nullptr && request.interrupt->raised()) return {};
    endings_.notes().tend();
    FQ_TRY(link_.attachment().check_place());
    if (!more_due) FQ_TRY(sleep_until_ready(request, deadline_ms, seen));
  }
}

/// What others have made of its leases comes beside new ones: where these never end, nobody would tell. A fault
/// in that is met again; the new ones are in our hands.
bool Taker::has_something(const LeaseRequest& request, LeaseReply& reply) {
  if (reply.deliveries.empty() && reply.why_empty != WhyEmpty::servable) return false;
  if (request.watch) static_cast<void>(watcher_.find_changes(reply));
  return true;
}

Result<void> Taker::try_lease(const LeaseRequest& request, const Now& read, LeaseReply& reply) {
  taken_.clear();
  group_.left = 0;
  uint64_t bytes = 0;
  size_t kept = 0;  // of what was taken: it is in our hands, whatever comes
  reply.next_wake_ms.reset();
  int obstacles = 0;
  for (bool first = true; first || kept < request.want || group_.left > 0; first = false) {
    const size_t before = kept;
    Obstacle obstacle = Obstacle::none;
    bool more_due = false;
    const size_t records = request.grouped ? kGroupRecords : 1;
    taken_.reserve(before + records * kLeasesPerRecord);  // nothing is allocated under the lock
    Result<void> took = locked([&]() -> Result<void> {
      drop_behind(kept);
      if (group_.segment != link_.segments_seen()) group_ = {.segment = link_.segments_seen()};
      const Now now = gate().now_as_read(read);
      gate().fire_timers(now);
      gate().apply_pending();
      std::optional<TenantIndex> from = kRootTenant;
      if (!request.tenant.empty()) from = schedule().tenants().find(request.tenant);
      if (request.look && from && schedule().turns().next(*from)) reply.why_empty = WhyEmpty::servable;
      if (request.look || request.want == 0) from.reset();
      for (size_t i = 0; from && i < records && obstacle == Obstacle::none && (i == 0 || group_.left > 0);
           ++i)
        obstacle = take_some(request, *from, kept, bytes);
      if (request.watch) reply.more = schedule().turns().next(from.value_or(kRootTenant)).has_value();
      int64_t timer_ms = schedule().timers().next_ms();
      // By the time that was taken by: what has expired by then is to be seen to first.
      more_due = timer_ms <= now.boot_ms;
      timer_ms = std::min(timer_ms, dead_letters_.due_ms());
      if (timer_ms != kNever) reply.next_wake_ms = std::max<int64_t>(0, timer_ms - now.boot_ms);
      return {};
    });
    if (took.ok() && obstacle != Obstacle::none) {
      took = ++obstacles > kObstaclesMax    ? refuse_full()
             : obstacle == Obstacle::holder ? become_holder()
                                            : writer_.overcome_for_event(obstacle);
      if (took.ok()) continue;
    }
    // What is in our hands already is delivered all the same.
    if (!took.ok() && kept == 0) return took;
    if (!took.ok()) drop_behind(kept);
    // Behind what has expired and is not buried yet there may be something to serve.
    if (kept == before && more_due) continue;
    if (kept == before) break;
    if (bytes >= request.bytes_max && group_.left == 0) break;
  }
  if (request.watch) watcher_.watch(taken_);
  return deliverer_.deliver(taken_, reply);
}

/// What was noted of a lease that was taken back.
void Taker::drop_behind(size_t kept) {
  taken_.erase(taken_.begin() + static_cast<std::ptrdiff_t>(kept), taken_.end());
}

Result<void> Taker::become_holder() {
  FQ_TRY(holder_.become());
  // Nothing of ours can have been changed before.
  if (link_.holder()) watcher_.begin_at(link_.holder_slot().changes.peek());
  return {};
}

LeaseTerms Taker::terms_of(const LeaseRequest& request, const Now& now) {
  const SegmentHeader& shared = header();
  LeaseTerms terms;
  terms.now_ms = now.boot_ms;
  terms.attempts_max = static_cast<uint16_t>(request.attempts_max.value_or(attempts_set(shared.settings)));
  if (request.hold == Hold::process) {
    terms.holder = *link_.holder();
  } else {
    const int64_t hold_ms = request.hold_ms.value_or(shared.settings.lease_ms);
    terms.until_ms = now.boot_ms + std::clamp<int64_t>(hold_ms, 0, kLatestMs);
  }
  return terms;
}

/// `taken`: how many there are; told once they are in our hands.
Obstacle Taker::take_some(const LeaseRequest& request, TenantIndex from, size_t& taken, uint64_t& bytes) {
  SegmentHeader& shared = header();
  // Not yet, or no more: the segment that knew us was replaced.
  if (request.hold == Hold::process && !link_.holder()) return Obstacle::holder;
  const uint64_t record_bytes = event_record_bytes(RecordType::leased, kLeasesPerRecord);
  const Obstacle obstacle = writer_.room_for_event(RecordType::leased, record_bytes);
  if (obstacle != Obstacle::none) return obstacle;
  const bool journaled = writer_.is_written(RecordType::leased, record_bytes);
  if (shared.next_serial + kLeasesPerRecord > shared.serial_limit) return Obstacle::limits;
  size_t count = 0;
  uint64_t all_bytes = bytes;
  Change change(link_);
  Txn& txn = change.txn();
  const Now& now = change.now();
  LeaseTerms terms = terms_of(request, now);
  event_items_.clear();
  EventDetail detail;
  detail.first_serial = Serial{shared.next_serial.get()};
  detail.pid = request.hold == Hold::process ? link_.holder_slot().pid.get() : 0;
  detail.until_wall_ms = request.hold == Hold::process ? 0 : store().wall_of(terms.until_ms);
  detail.pid_started = detail.pid != 0 ? link_.started() : 0;
  detail.attempts_max = terms.attempts_max;
  for (uint64_t serial = shared.next_serial;
       count < kLeasesPerRecord && txn.noted() + kUndoOfOne < kUndoEntries; ++serial, ++count) {
    terms.serial = serial;
    const std::optional<SlotIndex> slot = take_next(txn, request, from, terms, taken + count, all_bytes);
    if (!slot) break;
    const Entry& entry = schedule().messages().entry(*slot);
    TakenMessage& one = taken_.emplace_back(stream(), shared, *slot, entry);
    one.serial = serial;
    one.until_wall_ms = detail.until_wall_ms;
    event_items_.push_back({MessageId{one.id}, entry.event_position});
    all_bytes += entry.payload_bytes;
    if (journaled) {
      gate().apply().leased(txn, *slot, shared.tail);
    } else {
      schedule().messages().note_unwritten(txn, *slot);
    }
    one.event_position = entry.event_position;
  }
  if (count == 0) {
    txn.commit();  // a group may have ended
    return Obstacle::none;
  }
  open_ends(txn, shared).set(shared.next_serial, shared.next_serial + count);
  if (journaled) {
    encode_event(body_, RecordType::leased, event_items_, detail);
    change.append(Purpose::event, body_);
  }
  FQ_POINT("lease.appended");
  change.commit();
  FQ_POINT("lease.committed");
  bytes = all_bytes;
  taken += count;
  return Obstacle::none;
}

Result<void> Taker::sleep_until_ready(const LeaseRequest& request, int64_t deadline_ms, uint32_t seen) {
  SegmentHeader& shared = header();
  std::array<WatchedWord, kWatchedWordsMax> words;
  size_t count = 0;
  // Who wants no message is not woken by one: a worker with all its jobs running, say.
  const bool wants = request.want > 0 || request.look || request.until_idle || !request.watch;
  if (wants) words[count++] = {&shared.ready_event, seen};
  // A signal that comes just before the sleep has changed this word: the sleep does not begin.
  if (request.interrupt != nullptr) words[count++] = {request.interrupt->word(), 0};
  if (request.watch && link_.holder()) {
    words[count++] = {&link_.holder_slot().changes, watcher_.changes_seen()};
  }
  int64_t timer_ms = kNever;
  bool lazy_bytes = false;
  bool dead = false;
  FQ_TRY(locked([&]() -> Result<void> {
    timer_ms = std::min(schedule().timers().next_ms(), dead_letters_.due_ms());
    lazy_bytes = shared.durable_end.load(std::memory_order_relaxed) < shared.tail;
    upkeep_.look(shared);
    for (uint32_t i = 0; i < shared.holders_used && count < words.size(); ++i) {
      const HolderSlot& holder = shared.holders[i];
      const bool ours = link_.holder() && *link_.holder() == static_cast<HolderIndex>(i);
      if (holder.pid == 0 || holder.carried != 0 || ours) continue;
      // Dead since we looked: its word would not change any more, and nobody would wake us. Unless we
      // know why it is still there: a process of its job lives.
      if (holder.life.is_dead() && !reaper_.has_orphans()) dead = true;
      words[count++] = holder.life.watched();
    }
    return {};
  }));
  if (dead) return reaper_.look_anew(), Result<void>();
  // Who has nothing to do does what others left undone: they died at it, say.
  upkeep_.keep_if_due();
  const int64_t now_ms = clock().boot_ms();
  if (!lazy_bytes) lazy_since_ms_ = 0;
  if (lazy_bytes && lazy_since_ms_ == 0) lazy_since_ms_ = now_ms;
  int64_t wait_ms = std::min(kWaitCapMs, std::max<int64_t>(0, deadline_ms - now_ms));
  if (timer_ms != kNever) wait_ms = std::min(wait_ms, std::max<int64_t>(0, timer_ms - now_ms));
  if (lazy_bytes) wait_ms = std::min(wait_ms, kLazySyncMs);
  const bool young = now_ms - reaper_.orphans_since_ms() < kOrphanYoungMs;
  if (reaper_.has_orphans()) wait_ms = std::min(wait_ms, young ? kOrphanSoonMs : kOrphanLookMs);
  {
    const bool selective = !request.tenant.empty() || request.look || request.until_idle || request.want == 0;
    const WaiterCounted counted(wants ? &shared.ready_waiters : nullptr);
    const WaiterCounted selective_counted(wants && selective ? &shared.selective_waiters : nullptr);
    const SignalsAllowed allowed(request.signals);
    sleep_on(std::span(words).first(count), shared.ready_event, seen, wait_ms);
  }
  files().forget_before(shared.oldest_file.peek());
  if (lazy_bytes && clock().boot_ms() - lazy_since_ms_ >= kLazySyncMs) {
    lazy_since_ms_ = 0;
    return flusher().wait_durable_of_others(shared.committed_end.load(std::memory_order_acquire));
  }
  return {};
}

/// The next one for this request; none: there is none, or it would be too much. Needs: the lock.
std::optional<SlotIndex> Taker::take_next(Txn& txn, const LeaseRequest& request, TenantIndex from,
                                          const LeaseTerms& terms, size_t taken, uint64_t bytes) {
  const uint64_t bytes_left = bytes >= request.bytes_max ? 0 : request.bytes_max - bytes;
  if (group_.left > 0) {
    if (const auto slot = take_of_group(txn, from, terms, bytes_left)) return slot;
  }
  if (taken >= request.want) return std::nullopt;
  // A limit of bytes is looked at before the turn is taken: a turn cannot be given back.
  if (request.bytes_max != UINT64_MAX && taken != 0) {
    const std::optional<SlotIndex> next = schedule().turns().next(from);
    if (!next || schedule().messages().entry(*next).payload_bytes > bytes_left) return std::nullopt;
  }
  const std::optional<SlotIndex> slot = schedule().turns().take(txn, from, terms);
  if (!slot || !request.grouped) return slot;
  const TenantIndex leaf{schedule().messages().entry(*slot).tenant.get()};
  group_.leaf = leaf;
  const uint64_t group_max = std::max<uint64_t>(request.group_max, 1);
  group_.left = std::min(group_max, schedule().turns().group_size(leaf, 1)) - 1;
  if (group_.left == 0) schedule().turns().end_group(txn, leaf, terms.now_ms);
  return slot;
}

/// None: the group has ended, since no more of it can be had.
std::optional<SlotIndex> Taker::take_of_group(Txn& txn, TenantIndex from, const LeaseTerms& terms,
                                              uint64_t bytes_left) {
  const std::optional<SlotIndex> next = schedule().tenants().first_ready(group_.leaf);
  std::optional<SlotIndex> slot;
  if (next && schedule().messages().entry(*next).payload_bytes <= bytes_left) {
    slot = schedule().turns().take_more(txn, from, group_.leaf, terms);
  }
  group_.left = slot ? group_.left - 1 : 0;
  if (group_.left == 0) schedule().turns().end_group(txn, group_.leaf, terms.now_ms);
  return slot;
}

}  // namespace fq
