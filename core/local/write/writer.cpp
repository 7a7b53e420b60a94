#include "core/local/write/writer.h"

// fq, below us.
#include "core/base/fault_point.h"
// fq, this room.
#include "core/local/files/process_info.h"
#include "core/local/shared/segment_lock.h"

namespace fq {

namespace {

constexpr int64_t kDiskFullMs = 1'000;  // arbitrary

}  // namespace

Purpose purpose_of(RecordType type) {
  if (ends_message(type)) return Purpose::end;
  return type == RecordType::buried ? Purpose::bury : Purpose::event;
}

Need Writer::with_pending(const Need& need) {
  const SegmentHeader& shared = header();
  Need all = need;
  if (shared.pending_messages == 0) return all;
  all.messages += static_cast<uint32_t>(shared.pending_messages);
  all.tenants += static_cast<uint32_t>(shared.pending_tenants);
  all.text_cells += static_cast<uint32_t>(shared.pending_cells);
  all.extras += static_cast<uint32_t>(shared.pending_extras);
  all.keys += static_cast<uint32_t>(shared.pending_key_count);
  all.waits += static_cast<uint32_t>(shared.pending_waits);
  return all;
}

Obstacle Writer::room_for_push(uint64_t bytes, const Need& need, uint64_t messages, bool may_grow) {
  const SegmentHeader& shared = header();
  const bool ids_left = shared.next_id + messages <= shared.id_limit;
  if (!ids_left) return Obstacle::limits;
  if (const Obstacle obstacle = room_for(Purpose::accept, bytes, messages); obstacle != Obstacle::none)
    return obstacle;
  const Need all = with_pending(need);
  // What is grown by has a margin; on a full disk what fits is enough.
  if (schedule().growth().array_for(all) && (may_grow || !schedule().growth().fits(all)))
    return Obstacle::memory;
  return Obstacle::none;
}

Result<void> Writer::overcome(Obstacle obstacle, const Need& need) {
  switch (obstacle) {
    case Obstacle::none:
      return {};
    case Obstacle::ring_full: {
      Result<void> room = flusher().make_room();
      // Nothing of this operation was appended yet: it can be tried again.
      if (!room.ok())
        return Error{ErrorKind::later, object() + ": nothing was done: " + room.error().text, 0};
      return room;
    }
    case Obstacle::file_needed:
    case Obstacle::closing_room:
      return upkeep_.make_ready_file();
    case Obstacle::memory:
      return grow(need);
    case Obstacle::limits:
      return raise_limits();
    case Obstacle::pending:
      return link_.wait_all_durable();
    case Obstacle::holder:
    case Obstacle::note:
      return {};  // the caller's, who knows of them
  }
  return {};
}

Result<void> Writer::grow(const Need& need) {
  std::optional<ArrayName> array;
  uint64_t from = 0;
  uint32_t bytes = 0;
  const auto look = [&]() {
    array = schedule().growth().array_for(with_pending(need));
    if (!array) return;
    from = header().segment_bytes;
    bytes = schedule().growth().bytes_of(*array);
  };
  for (;;) {
    FQ_TRY(locked([&]() -> Result<void> { return look(), Result<void>(); }));
    if (!array) return {};
    if (bytes == 0) return Error{ErrorKind::later, object() + ": the segment has its largest size", 0};
    // Outside the lock: the disk may be slow, or full. Two who do it at once allocate the same bytes.
    FQ_TRY(extend_segment(from + bytes));
    FQ_POINT("grow.allocated");
    FQ_TRY(locked([&]() -> Result<void> {
      const ArrayName wanted = *array;
      const uint64_t allocated = from;
      look();
      if (!array || *array != wanted || from != allocated) return {};
      Txn txn = store().begin();
      schedule().growth().grow(txn, wanted, static_cast<uint32_t>(from / kPageBytes));
      txn.set(header().segment_bytes, from + bytes);
      txn.commit();
      return {};
    }));
  }
}

Result<void> Writer::extend_segment(uint64_t bytes) {
  // One at a time: where the file system cannot allocate, zeros are written, which nobody may use yet.
  SegmentHeader& shared = header();
  const std::optional<SegmentLock> held = SegmentLock::take(shared, shared.compaction);
  if (!held) return held_by(object() + ": its growth is held", shared.compaction.holder());
  Result<void> extended = store().memory().extend_to(bytes);
  if (!extended.ok() && extended.error().kind == ErrorKind::later) return refuse_full();
  return extended;
}

Result<void> Writer::raise_limits() {
  Obstacle obstacle = Obstacle::none;
  uint64_t end = 0;
  FQ_TRY(locked([&]() -> Result<void> {
    SegmentHeader& shared = header();
    const LimitsRecord limits{shared.next_id + kLimitStep, shared.next_serial + kLimitStep};
    encode_limits(body_, limits);
    const uint64_t bytes = padded(kRecordHeaderBytes + body_.bytes.size());
    obstacle = room_for(Purpose::care, bytes);
    if (obstacle != Obstacle::none) return {};
    Change change(link_);
    change.append(Purpose::care, body_);
    Txn& txn = change.txn();
    txn.set(shared.id_limit_pending, limits.id_limit);
    txn.set(shared.serial_limit_pending, limits.serial_limit);
    txn.set(shared.limits_position, shared.tail);
    change.commit();
    end = shared.tail;
    return {};
  }));
  // The caller comes back for the limits once this is out of the way.
  if (obstacle != Obstacle::none) return overcome(obstacle);
  // Nothing is handed out above the old limit before the new one is on disk.
  return flusher().wait_durable(end);
}

Obstacle Writer::room_for(Purpose purpose, uint64_t bytes, uint64_t more_messages) {
  switch (stream().room_for(bytes)) {
    case Stream::Room::ring_full:
      return Obstacle::ring_full;
    case Stream::Room::file_needed:
      return Obstacle::file_needed;
    case Stream::Room::enough:
      break;
  }
  return JournalSize(header()).leaves_room(purpose, bytes, more_messages) ? Obstacle::none
                                                                          : Obstacle::closing_room;
}

Obstacle Writer::room_for_event(RecordType type, uint64_t bytes) {
  const Purpose purpose = purpose_of(type);
  const Obstacle obstacle = room_for(purpose, bytes);
  const bool may_go_unwritten = purpose != Purpose::end;
  if (!may_go_unwritten || obstacle == Obstacle::none || obstacle == Obstacle::ring_full) return obstacle;
  // First a file is asked for; only a disk that has none lets the event go unwritten (see is_written).
  return disk_is_full() ? Obstacle::none : Obstacle::closing_room;
}

bool Writer::is_written(RecordType type, uint64_t bytes) {
  // Where the disk was never full, room_for_event() was none because there is room.
  if (disk_full_until_ms_ == 0) return true;
  const Purpose purpose = purpose_of(type);
  return purpose == Purpose::end || room_for(purpose, bytes) == Obstacle::none;
}

bool Writer::disk_is_full() { return disk_full_until_ms_ != 0 && clock().boot_ms() < disk_full_until_ms_; }

Result<void> Writer::overcome_for_event(Obstacle obstacle) {
  Result<void> overcame = overcome(obstacle);
  if (overcame.ok() || obstacle != Obstacle::closing_room || overcame.error().kind != ErrorKind::later)
    return overcame;
  // For a moment it is not asked again: making a file that does not fit is slow.
  disk_full_until_ms_ = clock().boot_ms() + kDiskFullMs;
  return {};
}

}  // namespace fq
