#include "core/local/schedules/schedule_reader.h"

namespace fq {

ScheduleSnapshot ScheduleReader::see(uint32_t index) {
  const Timetable timetable = schedule().timetable();
  const Recurring& recurring = timetable.at(index);
  ScheduleSnapshot seen;
  seen.index = index;
  seen.name_bytes = timetable.name_of(index, seen.text).size();
  seen.record = recurring.record;
  seen.version = recurring.version;
  seen.known_id = recurring.known_id;
  seen.last_id = recurring.last_id;
  seen.flags = recurring.flags;
  seen.last = recurring.last;
  seen.done_wall_ms = recurring.done_wall_ms;
  seen.next_wall_ms = recurring.next_wall_ms;
  seen.last_wall_ms = recurring.last_wall_ms;
  seen.place = stream().table().place(recurring.record);
  seen.written_end = header().ring_start.load(std::memory_order_relaxed);
  return seen;
}

Result<bool> ScheduleReader::find(std::string_view name, ScheduleSnapshot& seen) {
  bool found = false;
  FQ_TRY(locked([&]() -> Result<void> {
    const uint32_t index = schedule().timetable().find(name);
    found = index != kNoIndex;
    if (found) seen = see(index);
    return {};
  }));
  return found;
}

bool ScheduleReader::is_unchanged(const ScheduleSnapshot& seen) {
  const Timetable timetable = schedule().timetable();
  if (seen.index >= timetable.end() || !timetable.is_used(seen.index)) return false;
  const Recurring& recurring = timetable.at(seen.index);
  return recurring.record == seen.record && recurring.version == seen.version &&
         recurring.known_id == seen.known_id && recurring.done_wall_ms == seen.done_wall_ms &&
         recurring.last_wall_ms == seen.last_wall_ms && recurring.last == seen.last;
}

Result<bool> ScheduleReader::read(const ScheduleSnapshot& seen, StoredSchedule& stored) {
  if (!seen.place) return false;
  FQ_TRY_SET(const bool found,
             reader().read_record(*seen.place, seen.record, seen.written_end, stored.bytes));
  if (!found) return false;
  const std::optional<RecordHeader> header = decode_header(seen.place->key, stored.bytes);
  if (!header || header->type != RecordType::scheduled) return false;
  const Bytes body = Bytes(stored.bytes).subspan(kRecordHeaderBytes, header->bytes - kRecordHeaderBytes);
  std::optional<ScheduledRecord> record = decode_scheduled(body);
  if (!record) return false;
  stored.record = *record;
  return true;
}

ScheduledRecord record_now(const StoredSchedule& stored, const ScheduleSnapshot& seen) {
  ScheduledRecord record = stored.record;
  record.paused = (seen.flags & kRecurringPaused) != 0;
  record.of_file = (seen.flags & kRecurringOfFile) != 0;
  record.done_wall_ms = seen.done_wall_ms;
  record.next_wall_ms = seen.next_wall_ms;
  record.last_wall_ms = seen.last_wall_ms;
  record.last = seen.last;
  record.last_id = MessageId{seen.last_id};
  record.known_id = MessageId{seen.known_id};
  return record;
}

}  // namespace fq
