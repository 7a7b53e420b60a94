#include "core/local/schedules/schedule_book.h"

// System.
#include <algorithm>
#include <set>
#include <span>
// fq, below us.
#include "core/base/fault_point.h"
// fq, this room.
#include "core/local/read/item_view.h"
#include "core/local/write/pin_walk.h"
#include "core/local/write/read_seen.h"

namespace fq {

namespace {

constexpr int kChangeTries = 64;       // against others that change the same schedule at the same time
constexpr uint32_t kSeenPerHold = 64;  // of the state lock
constexpr uint32_t kPassedPerHold = 4096;
constexpr size_t kNextTimes = 3;

bool says_the_same(const ScheduledRecord& a, const ScheduledRecord& b) {
  Body one, other;
  encode_scheduled(one, a);
  encode_scheduled(other, b);
  return one.bytes == other.bytes;
}

/// Times that came while it was in neither queue are not made up.
void set_past(const SchedulePast& past, ScheduledRecord& record) {
  record.paused = past.paused;
  record.begun_wall_ms = std::min(past.begun_wall_ms, record.begun_wall_ms);
  record.last = past.last;
  record.last_wall_ms = past.last_wall_ms;
  record.last_id = past.last_id;
}

}  // namespace

Result<void> ScheduleBook::wait_durable() {
  const uint64_t end = std::exchange(end_, 0);
  return end == 0 || syncs_lazily() ? Result<void>() : flusher().wait_durable(end);
}

/// Appends it in the place of what was there, or of nothing. False: that has changed meanwhile.
Result<bool> ScheduleBook::put(const ScheduleSnapshot* there, const ScheduledRecord& record,
                               Purpose purpose) {
  Body& body = purpose == Purpose::care ? carried_body_ : body_;
  encode_scheduled(body, record);
  const Need need = Growth::need_of_schedule(record.name);
  const uint64_t bytes = padded(kRecordHeaderBytes + body.bytes.size());
  bool done = false, changed = false;
  FQ_TRY(writer_.write(
      [&]() -> Result<Obstacle> {
        // Repeated in another segment after damage was met: what was appended has been carried over.
        if (done) return Obstacle::none;
        const Timetable timetable = schedule().timetable();
        changed = there != nullptr ? !reader_.is_unchanged(*there) : timetable.find(record.name) != kNoIndex;
        if (changed) return Obstacle::none;
        if (there == nullptr && timetable.count() >= kSchedulesMax) {
          return Error{ErrorKind::later,
                       object() + ": has " + std::to_string(timetable.count()) + " schedules, the limit is " +
                           std::to_string(kSchedulesMax),
                       0};
        }
        const Obstacle obstacle = purpose == Purpose::care ? writer_.room_for(purpose, bytes)
                                                           : writer_.room_for_push(bytes, need, 0, true);
        if (obstacle != Obstacle::none) return obstacle;
        Change change(link_);
        const uint64_t position = change.append(purpose, body);
        if (purpose == Purpose::care) {
          timetable.move(change.txn(), there->index, position, static_cast<uint32_t>(bytes));
        } else {
          gate().apply().scheduled(change.txn(), record, position, bytes);
        }
        FQ_POINT("schedule.appended");
        change.commit();
        gate().mark_servable();  // a timer may be earlier than before
        end_ = header().tail;
        done = true;
        return Obstacle::none;
      },
      need));
  return done;
}

Result<void> ScheduleBook::set_one(const ScheduleDefinition& definition, bool of_file) {
  PushedBlobs blobs(link_, upkeep_);
  PushBatch batch;
  Need unused;  // it is not pushed
  FQ_TRY(batch.prepare(std::span(&definition.message, 1), {}, 0, blobs, unused));
  ScheduleSnapshot seen;
  StoredSchedule stored;
  for (int tries = 0; tries < kChangeTries; ++tries) {
    FQ_TRY_SET(const bool there, reader_.find(definition.name, seen));
    bool readable = false;
    if (there) {
      FQ_TRY_SET(readable, reader_.read(seen, stored));
    }
    // What was set at run time wins.
    if (there && of_file && (seen.flags & kRecurringOfFile) == 0) return {};
    const int64_t now_ms = clock().wall_ms();
    ScheduledRecord record;
    if (there) record = record_now(stored, seen);
    const bool goes_on = readable && record.spec == definition.spec && record.zone == definition.zone;
    if (!there) record.known_id = MessageId{header().next_id.peek() - 1};
    record.name = definition.name;
    record.spec = definition.spec;
    record.zone = definition.zone;
    record.missed = definition.missed;
    record.overlap = definition.overlap;
    record.of_file = of_file;
    record.carried = false;
    record.message = batch.items()[0];
    if (!goes_on) {
      record.begun_wall_ms = record.done_wall_ms = now_ms;
      if (!there && definition.past) set_past(*definition.past, record);
      FQ_TRY_SET(const ScheduleTimes times,
                 ScheduleTimes::of(record.spec, record.zone, record.begun_wall_ms));
      record.next_wall_ms = times.next(now_ms);
    }
    if (readable && says_the_same(record, record_now(stored, seen))) return {};
    FQ_TRY_SET(const bool done, put(there ? &seen : nullptr, record, Purpose::accept));
    if (done) return {};
  }
  return Error{ErrorKind::later, "schedule '" + definition.name + "': is being changed by others; try again",
               0};
}

Result<void> ScheduleBook::set(const ScheduleDefinition& definition) {
  FQ_TRY(check_schedule(definition, header().settings.payload_bytes_max.peek()));
  FQ_TRY(set_one(definition, false));
  return wait_durable();
}

Result<void> ScheduleBook::load(std::span<const ScheduleDefinition> definitions) {
  FQ_TRY(check_schedules(definitions));
  for (const ScheduleDefinition& each : definitions) FQ_TRY(set_one(each, true));
  FQ_TRY(drop_of_file(definitions));
  return wait_durable();
}

/// Those that the file named and does not name any more.
Result<void> ScheduleBook::drop_of_file(std::span<const ScheduleDefinition> kept) {
  if (header().schedule.recurring_supply.used.peek() == 0) return {};
  std::set<std::string_view> names;
  for (const ScheduleDefinition& each : kept) names.insert(each.name);
  for (uint32_t from = 0, next = 1; next != 0; from = next) {
    FQ_TRY_SET(const std::vector<ScheduleSnapshot> some, see_some(from, kSeenPerHold, next));
    for (const ScheduleSnapshot& seen : some) {
      if ((seen.flags & kRecurringOfFile) == 0 || names.contains(seen.name())) continue;
      // One that changes meanwhile is found by the next load, or is none of the file's any more.
      FQ_TRY(take_out(seen));
    }
  }
  return {};
}

/// False: it has changed meanwhile.
Result<bool> ScheduleBook::take_out(const ScheduleSnapshot& seen) {
  encode_skipped(body_, RecordType::unscheduled, {seen.name(), 0, 0, Occurrence::none});
  bool done = false;
  FQ_TRY(writer_.write([&]() -> Result<Obstacle> {
    if (done || !reader_.is_unchanged(seen)) return Obstacle::none;
    const Obstacle obstacle =
        writer_.room_for(Purpose::event, padded(kRecordHeaderBytes + body_.bytes.size()));
    if (obstacle != Obstacle::none) return obstacle;
    Change change(link_);
    change.append(Purpose::event, body_);
    gate().apply().unscheduled(change.txn(), seen.name());
    FQ_POINT("schedule.removed");
    change.commit();
    end_ = header().tail;
    done = true;
    return Obstacle::none;
  }));
  return done;
}

Result<bool> ScheduleBook::remove(std::string_view name) {
  ScheduleSnapshot seen;
  for (int tries = 0; tries < kChangeTries; ++tries) {
    FQ_TRY_SET(const bool there, reader_.find(name, seen));
    if (!there) return false;
    if ((seen.flags & kRecurringOfFile) != 0) {
      return Error{ErrorKind::usage,
                   "schedule '" + std::string(name) + "': stands in fq.toml; take it out there, or pause it",
                   0};
    }
    FQ_TRY_SET(const bool done, take_out(seen));
    if (!done) continue;
    FQ_TRY(wait_durable());
    return true;
  }
  return Error{ErrorKind::later,
               "schedule '" + std::string(name) + "': is being changed by others; try again", 0};
}

Result<bool> ScheduleBook::pause(std::string_view name, bool paused) {
  ScheduleSnapshot seen;
  StoredSchedule stored;
  for (int tries = 0; tries < kChangeTries; ++tries) {
    FQ_TRY_SET(const bool there, reader_.find(name, seen));
    if (!there) return false;
    if (((seen.flags & kRecurringPaused) != 0) == paused) return true;
    FQ_TRY_SET(const bool readable, reader_.read(seen, stored));
    if (!readable) continue;
    ScheduledRecord record = record_now(stored, seen);
    record.paused = paused;
    record.carried = false;
    if (!paused) {
      // What passed in the pause is not made up.
      record.done_wall_ms = clock().wall_ms();
      FQ_TRY_SET(const ScheduleTimes times,
                 ScheduleTimes::of(record.spec, record.zone, record.begun_wall_ms));
      record.next_wall_ms = times.next(record.done_wall_ms);
    }
    FQ_TRY_SET(const bool done, put(&seen, record, Purpose::accept));
    if (!done) continue;
    FQ_TRY(wait_durable());
    return true;
  }
  return Error{ErrorKind::later,
               "schedule '" + std::string(name) + "': cannot be read, or another process is changing it", 0};
}

Result<void> ScheduleBook::pause_all() {
  FQ_TRY_SET(const std::vector<std::string> names, all_names());
  for (const std::string& name : names) FQ_TRY(pause(name, true));
  return {};
}

/// Some from there on; `next`: where to go on, 0 at the end.
Result<std::vector<ScheduleSnapshot>> ScheduleBook::see_some(uint32_t from, size_t n, uint32_t& next) {
  std::vector<ScheduleSnapshot> some;
  some.reserve(std::min<size_t>(n, kSeenPerHold));  // nothing is allocated under the lock
  FQ_TRY(locked([&]() -> Result<void> {
    some.clear();
    const Timetable timetable = schedule().timetable();
    uint32_t at = from;
    for (uint32_t passed = 0;
         at < timetable.end() && some.size() < some.capacity() && passed < kPassedPerHold; ++at, ++passed) {
      if (timetable.is_used(at)) some.push_back(reader_.see(at));
    }
    next = at < timetable.end() ? at : 0;
    return {};
  }));
  return some;
}

Result<ScheduleInfo> ScheduleBook::describe(const ScheduleSnapshot& seen) {
  ScheduleInfo info;
  info.name = seen.name();
  info.paused = (seen.flags & kRecurringPaused) != 0;
  info.of_file = (seen.flags & kRecurringOfFile) != 0;
  info.refused = (seen.flags & kRecurringRefused) != 0;
  info.last = seen.last;
  info.last_wall_ms = seen.last_wall_ms;
  info.last_id = MessageId{seen.last_id};
  StoredSchedule stored;
  FQ_TRY_SET(const bool readable, reader_.read(seen, stored));
  if (!readable) {
    info.fault = "its record cannot be read; set it again";
    return info;
  }
  const ScheduledRecord& record = stored.record;
  info.spec = record.spec;
  info.zone = record.zone;
  info.missed = record.missed;
  info.overlap = record.overlap;
  info.begun_wall_ms = record.begun_wall_ms;
  describe_item(record.message, info.message);
  info.message.attempts_max = record.message.attempts_max;
  info.message.pushed_at_wall_ms.reset();
  info.message.payload = std::string(as_text(record.message.payload));
  if (info.paused) return info;
  const Result<ScheduleTimes> times = ScheduleTimes::of(record.spec, record.zone, record.begun_wall_ms);
  if (!times.ok()) info.fault = times.error().text;
  if (!times.ok()) return info;
  const int64_t accounted = ScheduleTimes::accounted(seen.done_wall_ms, seen.next_wall_ms, clock().wall_ms());
  info.next_wall_ms = times->next_times(accounted, kNextTimes);
  return info;
}

/// In order.
Result<std::vector<std::string>> ScheduleBook::all_names() {
  std::vector<std::string> names;
  uint32_t next = 1;
  for (uint32_t at = 0; next != 0; at = next) {
    FQ_TRY_SET(const std::vector<ScheduleSnapshot> some, see_some(at, kSeenPerHold, next));
    for (const ScheduleSnapshot& seen : some) names.emplace_back(seen.name());
  }
  std::sort(names.begin(), names.end());
  // One that was removed and set again meanwhile may have been seen in two places.
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Result<SchedulePage> ScheduleBook::list(const Cursor& from, size_t n) {
  // Each page would cost a walk through all: who goes on where another has ended goes on in what that saw.
  const bool goes_on = std::binary_search(listed_.begin(), listed_.end(), from.text);
  if (!goes_on) {
    FQ_TRY_SET(listed_, all_names());
  }
  const auto next = std::upper_bound(listed_.begin(), listed_.end(), from.text);
  const std::span names(next, listed_.end());
  SchedulePage page;
  const std::span some = names.first(std::min(n, names.size()));
  for (const std::string& name : some) {
    FQ_TRY_SET(std::optional<ScheduleInfo> info, get(name));
    if (info) page.schedules.push_back(std::move(*info));
  }
  if (!some.empty() && some.size() < names.size()) page.next.text = some.back();
  return page;
}

Result<std::optional<ScheduleInfo>> ScheduleBook::get(std::string_view name) {
  ScheduleSnapshot seen;
  FQ_TRY_SET(const bool there, reader_.find(name, seen));
  if (!there) return std::optional<ScheduleInfo>();
  FQ_TRY_SET(ScheduleInfo info, describe(seen));
  return std::optional(std::move(info));
}

Result<void> ScheduleBook::carry_one(ScheduleSnapshot& seen) {
  StoredSchedule stored;
  FQ_TRY_SET(const bool readable, read_seen(link_, reader_, seen, stored));
  if (readable) {
    ScheduledRecord record = record_now(stored, seen);
    record.carried = true;
    FQ_TRY(put(&seen, record, Purpose::care));
    return {};
  }
  // Damage costs what it has damaged: its file must not stay for ever.
  FQ_TRY_SET(const bool gone, take_out(seen));
  if (gone)
    notice("schedule '" + std::string(seen.name()) +
           "': its record was damaged and it is lost; set it again");
  return {};
}

Result<void> ScheduleBook::carry() {
  for (bool more = true; more;) {
    std::vector<ScheduleSnapshot> found;
    found.reserve(kSeenPerHold);
    FQ_TRY(locked([&]() -> Result<void> {
      found.clear();
      Pin& pin = header().schedules;
      more = begin_walk(link_, pin);
      if (!more) return {};
      const Timetable timetable = schedule().timetable();
      uint32_t at = pin.walk_next;
      for (uint32_t passed = 0;
           at < timetable.end() && found.size() < found.capacity() && passed < kPassedPerHold;
           ++at, ++passed) {
        const bool old = timetable.is_used(at) && timetable.at(at).record < pin.walk_from;
        if (old) found.push_back(reader_.see(at));
      }
      // Only what is done is passed: a death, or a change meanwhile, leaves it to the next look.
      if (!found.empty()) return {};
      Txn txn = store().begin();
      note_walked(txn, pin, at, at >= timetable.end());
      txn.commit();
      return {};
    }));
    for (ScheduleSnapshot& seen : found) FQ_TRY(carry_one(seen));
    FQ_POINT("schedules.carried");
  }
  end_ = 0;
  return {};
}

}  // namespace fq
