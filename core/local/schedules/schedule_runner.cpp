#include "core/local/schedules/schedule_runner.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/fault_point.h"
// fq, this room.
#include "core/local/read/item_view.h"
#include "core/local/write/read_seen.h"

namespace fq {

namespace {

// Times that passed while nobody was there may be millions: between them others are served, and interrupts
// heard.
constexpr int kRunAtOnce = 512;
constexpr int64_t kTryAgainMs = 200;        // arbitrary: refused ones are not tried more often
constexpr int64_t kTryAnywayMs = 10'000;    // chosen: nobody tells of room on a disk
constexpr uint32_t kTriedAgainMax = 16;     // at once; the others' turn comes with the next end
constexpr int64_t kWithoutZoneMs = 60'000;  // arbitrary: until a zone that cannot be read is asked for again

/// What a schedule makes, of what its record says.
struct MadeMessage {
  MadeMessage(const MessageItem& item, Order order) {
    copy_values(item, message);
    keep_to_order(message, order);
    message.payload = item.payload;
    const MessageTerms terms = decode_terms(item.terms).value_or(MessageTerms{});
    if (terms.ttl_ms != 0) message.ttl_ms = terms.ttl_ms;
  }
  NewMessage message;
};

}  // namespace

Result<bool> ScheduleRunner::run_some_due() {
  FQ_TRY(wall_clock_.follow());
  try_refused();
  Result<void> ran;
  ScheduleSnapshot seen;
  bool due = true;
  for (int runs = 0; due && ran.ok() && runs < kRunAtOnce; ++runs) {
    FQ_TRY_SET(due, see_due(seen));
    if (due) ran = run_one(seen);
  }
  const uint64_t end = std::exchange(end_, 0);
  if (end != 0 && !syncs_lazily()) FQ_TRY(flusher().wait_durable(end));
  FQ_TRY(std::move(ran));
  return due;
}

/// Those that found no room, if something has ended or a limit has changed since they were tried; now and
/// then all the same.
void ScheduleRunner::try_refused() {
  if (header().schedule.refused.head.peek() == kNoIndex) return;
  const uint32_t ends = header().end_event.load(std::memory_order_acquire);
  const int64_t now_ms = clock().boot_ms();
  if (now_ms - tried_ms_ < (ends == ends_seen_ ? kTryAnywayMs : kTryAgainMs)) return;
  ends_seen_ = ends;
  tried_ms_ = now_ms;
  // A fault in that is met again by what follows.
  static_cast<void>(locked([&]() -> Result<void> {
    Txn txn = store().begin();
    for (uint32_t tried = 0; tried < kTriedAgainMax; ++tried) schedule().timetable().try_again(txn);
    txn.commit();
    return {};
  }));
}

/// False: none is due.
Result<bool> ScheduleRunner::see_due(ScheduleSnapshot& seen) {
  bool due = false;
  FQ_TRY(locked([&]() -> Result<void> {
    gate().fire_timers(gate().now());
    const uint32_t index = schedule().timetable().first_due();
    due = index != kNoIndex;
    if (due) seen = reader_.see(index);
    return {};
  }));
  return due;
}

void ScheduleRunner::tell(const ScheduleSnapshot& seen, const std::string& fault) {
  if (told_.insert(seen.version).second) notice("schedule '" + std::string(seen.name()) + "': " + fault);
}

Result<void> ScheduleRunner::run_one(ScheduleSnapshot& seen) {
  FQ_POINT("schedule.due");
  FQ_TRY_SET(const bool readable, read_seen(link_, reader_, seen, stored_));
  if (!readable) {
    bool same = false;
    FQ_TRY(locked([&]() -> Result<void> { return same = reader_.is_unchanged(seen), Result<void>(); }));
    if (same) tell(seen, "its record cannot be read; set it again");
    return same ? postpone(seen, seen.next_wall_ms, kWithoutZoneMs) : Result<void>();
  }
  const ScheduledRecord& record = stored_.record;
  const Result<ScheduleTimes> times = ScheduleTimes::of(record.spec, record.zone, record.begun_wall_ms);
  if (!times.ok()) {
    tell(seen, times.error().text);
    return postpone(seen, seen.next_wall_ms, kWithoutZoneMs);
  }
  const int64_t now_wall_ms = clock().wall_ms();
  const int64_t accounted = ScheduleTimes::accounted(seen.done_wall_ms, seen.next_wall_ms, now_wall_ms);
  const ScheduleTimes::Decision due = times->decide(record.missed, accounted, now_wall_ms);
  using What = ScheduleTimes::Decision::What;
  if (due.what == What::wait) {
    return postpone(seen, due.next_wall_ms, due.next_wall_ms == kNever ? 0 : due.next_wall_ms - now_wall_ms);
  }
  Result<void> done = due.what == What::skip ? skip(seen, Occurrence::missed, due) : make(seen, due);
  // Full, draining or without a place on the disk, if only for the record that it was passed over: kept until
  // there is room.
  if (!done.ok() && done.error().kind == ErrorKind::later) return refuse(seen);
  return done;
}

/// Of the last message that it made. Needs: the lock.
ScheduleRunner::Before ScheduleRunner::before_now(const ScheduleSnapshot& seen) {
  if (seen.last_id == 0) return Before::ended;
  const MessageId id{seen.last_id};
  if (const std::optional<SlotIndex> slot = schedule().messages().find(id))
    return state_of(schedule().messages().entry(*slot)) == SlotState::dead ? Before::ended
                                                                           : Before::unfinished;
  const bool pending = header().pending_messages > 0 && !schedule().past().outcome(id);
  return pending ? Before::unknown : Before::ended;
}

Result<void> ScheduleRunner::make(const ScheduleSnapshot& seen, const ScheduleTimes::Decision& due) {
  Before before = Before::ended;
  FQ_TRY(locked([&]() -> Result<void> { return before = before_now(seen), Result<void>(); }));
  // It is accepted and not linked yet: what becomes of it is known once it is.
  if (before == Before::unknown) return link_.wait_all_durable();
  const OverlapRule overlap = stored_.record.overlap;
  std::optional<MessageId> after;
  if (before == Before::unfinished) {
    const MessageId id{seen.last_id};
    if (overlap == OverlapRule::skip) return skip(seen, Occurrence::overlap, due);
    if (overlap == OverlapRule::queue) after = id;
    if (overlap == OverlapRule::cancel) {
      // One that cannot come takes nobody's place.
      const MadeMessage next(stored_.record.message, order());
      FQ_TRY(pushes_.check_room(std::span(&next.message, 1), id));
      // Who dies behind this leaves the time due, and nothing before it.
      FQ_TRY(mutator_.change(id, Action::cancel));
      FQ_TRY(mutator_.finish());
      FQ_POINT("schedule.cancelled");
    }
  }
  FQ_TRY_SET(const Appended made, push(seen, due.at_wall_ms, due.next_wall_ms, after, [&](const Now&) {
               return reader_.is_unchanged(seen) && (!after || before_now(seen) == Before::unfinished);
             }));
  if (!made.refused) end_ = made.end;
  return {};
}

Result<Appended> ScheduleRunner::push(const ScheduleSnapshot& seen, int64_t at_wall_ms, int64_t next_wall_ms,
                                      std::optional<MessageId> after, const Precondition& precondition) {
  MadeMessage made(stored_.record.message, order());
  made.message.schedule = seen.name();
  made.message.scheduled_at_wall_ms = at_wall_ms;
  if (after) made.message.after_any = {*after};
  return pushes_.append(std::span(&made.message, 1), {}, syncs_lazily(), precondition, next_wall_ms);
}

Result<void> ScheduleRunner::skip(const ScheduleSnapshot& seen, Occurrence why,
                                  const ScheduleTimes::Decision& due) {
  const SkippedRecord skipped{seen.name(), due.at_wall_ms, due.next_wall_ms, why};
  encode_skipped(body_, RecordType::skipped, skipped);
  bool done = false;
  return writer_.write([&]() -> Result<Obstacle> {
    if (done || !reader_.is_unchanged(seen)) return Obstacle::none;
    // The one before may have ended meanwhile: then this time makes a message after all.
    if (why == Occurrence::overlap && before_now(seen) != Before::unfinished) return Obstacle::none;
    const Obstacle obstacle =
        writer_.room_for(Purpose::event, padded(kRecordHeaderBytes + body_.bytes.size()));
    if (obstacle != Obstacle::none) return obstacle;
    Change change(link_);
    change.append(Purpose::event, body_);
    gate().apply().skipped(change.txn(), skipped);
    FQ_POINT("schedule.skipped");
    change.commit();
    end_ = header().tail;
    done = true;
    return Obstacle::none;
  });
}

Result<void> ScheduleRunner::postpone(const ScheduleSnapshot& seen, int64_t next_wall_ms, int64_t wait_ms) {
  return locked([&]() -> Result<void> {
    if (!reader_.is_unchanged(seen)) return {};
    Txn txn = store().begin();
    schedule().timetable().postpone(txn, seen.index, next_wall_ms, gate().now().boot_ms + wait_ms);
    txn.commit();
    return {};
  });
}

Result<void> ScheduleRunner::refuse(const ScheduleSnapshot& seen) {
  return locked([&]() -> Result<void> {
    if (!reader_.is_unchanged(seen)) return {};
    Txn txn = store().begin();
    schedule().timetable().refuse(txn, seen.index);
    txn.commit();
    ends_seen_ = header().end_event.load(std::memory_order_acquire);
    return {};
  });
}

Result<std::optional<MessageId>> ScheduleRunner::run(std::string_view name) {
  ScheduleSnapshot seen;
  constexpr int kMovedTries = 64;  // against compaction, which moves records
  for (int tries = 0; tries < kMovedTries; ++tries) {
    FQ_TRY_SET(const bool there, reader_.find(name, seen));
    if (!there) return std::optional<MessageId>();
    FQ_TRY_SET(const bool readable, reader_.read(seen, stored_));
    if (!readable) continue;
    FQ_TRY_SET(const Appended made, push(seen, clock().wall_ms(), 0, {}, {}));
    if (!syncs_lazily()) FQ_TRY(flusher().wait_durable(made.end));
    return std::optional(made.first_id);
  }
  return Error{ErrorKind::bad_data,
               "schedule '" + std::string(name) + "': its record cannot be read; set it again", 0};
}

}  // namespace fq
