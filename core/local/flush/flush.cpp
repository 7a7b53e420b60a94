#include "core/local/flush/flush.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/fault_point.h"
#include "core/base/process_state.h"
// fq, this room.
#include "core/local/files/process_info.h"

namespace fq {

namespace {

// A leader's death is seen by the next try; without one the longest wait is this.
constexpr int64_t kFollowerCapMs = 20;
// The ring is no longer than the shortest file, and so lies in two as a rule: nothing is allocated under the
// lock.
constexpr size_t kPiecesAhead = 4;

Error unknown(const std::string& why) { return Error{ErrorKind::io, why + "; the outcome is unknown", 0}; }

Error sticky_failure(const std::string& object) {
  return Error{ErrorKind::io, object + ": the journal takes no more writes; the outcome is unknown", 0};
}

}  // namespace

/// How long a follower has waited without any progress of the leader.
struct Flusher::Patience {
  int64_t waited_ms = 0;
  uint64_t last_durable_end = 0;
};

Result<void> Flusher::wait_durable(uint64_t end) {
  SegmentHeader& header = gate_.header();
  Patience patience;
  if (header.durable_end.load(std::memory_order_acquire) >= end) return lost_meanwhile(end);
  for (;;) {
    // The event first, then what it announces: otherwise the last announcement is slept through.
    const uint32_t seen = header.sync_event.load(std::memory_order_acquire);
    if (header.durable_end.load(std::memory_order_acquire) >= end) return lost_meanwhile(end);
    if (header.sync_failed.load(std::memory_order_acquire) != 0) return sticky_failure(gate_.object());
    if (header.phase.load(std::memory_order_acquire) == Phase::retired) {
      // The process that retired the segment has flushed all of it first; what it could not flush stayed
      // unknown.
      return Error{ErrorKind::io, gate_.object() + ": its segment was replaced; the outcome is unknown", 0};
    }
    Result<void> turn = take_turn(FlushGoal::durable, seen, patience);
    // Another process may have made it durable and then put the segment away.
    if (!turn.ok() && header.durable_end.load(std::memory_order_acquire) < end) {
      return Error{ErrorKind::io, std::move(turn).error().text, 0};
    }
  }
}

/// The stream is on disk, though with a hole where a file that failed did not give its records back.
Result<void> Flusher::lost_meanwhile(uint64_t end) const {
  const SegmentHeader& header = gate_.header();
  const bool lost = header.lost_from.load(std::memory_order_relaxed) < end &&
                    end <= header.lost_end.load(std::memory_order_relaxed);
  if (!lost) return {};
  return unknown(gate_.object() + ": records that were not synced yet are lost");
}

Result<void> Flusher::wait_durable_of_others(uint64_t end) {
  Result<void> durable = wait_durable(end);
  if (durable.ok() || gate_.header().sync_failed.load(std::memory_order_acquire) != 0) return durable;
  return Error{ErrorKind::later, std::move(durable).error().text, 0};
}

Result<void> Flusher::make_room() {
  SegmentHeader& header = gate_.header();
  const uint64_t goal = header.committed_end.load(std::memory_order_acquire);
  Patience patience;
  while (header.ring_start.load(std::memory_order_acquire) < goal) {
    if (header.sync_failed.load(std::memory_order_acquire) != 0) return sticky_failure(gate_.object());
    FQ_TRY(take_turn(FlushGoal::room, header.sync_event.load(std::memory_order_acquire), patience));
  }
  return {};
}

void Flusher::tidy() {
  SegmentHeader& header = gate_.header();
  const uint64_t written_end = header.written_end.load(std::memory_order_relaxed);
  const uint64_t durable_end = header.durable_end.load(std::memory_order_acquire);
  if (header.committed_end.load(std::memory_order_acquire) <= std::max(written_end, durable_end)) return;
  // The process that leads now writes our bytes as well.
  if (take_lock() != Taken::clean) return;
  // A failure costs nothing that was promised, and the next leader meets it again.
  static_cast<void>(lead_once(FlushGoal::tidy));
  header.flush.unlock();
}

void Flusher::try_sync() {
  // Nobody was promised anything: the next leader meets a failure again.
  if (take_lock() == Taken::clean) static_cast<void>(lead_and_tell(FlushGoal::durable));
}

Taken Flusher::take_lock() {
  SegmentHeader& header = gate_.header();
  const Taken taken = header.flush.try_take();
  if (taken != Taken::owner_died) return taken;
  // Nothing to repair: durable_end only grows, and what the dead leader wrote is written again.
  header.flush.consistent();
  return Taken::clean;
}

Result<void> Flusher::lead_and_tell(FlushGoal goal) {
  SegmentHeader& header = gate_.header();
  FQ_POINT("flush.taken");
  Result<void> led = lead(goal);
  header.flush.unlock();
  FQ_POINT("flush.unlocked");
  header.sync_event.fetch_add(1, std::memory_order_seq_cst);
  if (header.sync_waiters.load(std::memory_order_seq_cst) != 0) futex_wake_all(header.sync_event);
  return led;
}

Result<void> Flusher::take_turn(FlushGoal goal, uint32_t seen, Patience& patience) {
  SegmentHeader& header = gate_.header();
  const Taken taken = take_lock();
  if (taken == Taken::clean) return lead_and_tell(goal);
  if (taken == Taken::unusable)
    return Error{ErrorKind::io, gate_.object() + ": its flush lock is damaged", 0};
  header.sync_waiters.fetch_add(1, std::memory_order_seq_cst);
  futex_wait(header.sync_event, seen, kFollowerCapMs);
  header.sync_waiters.fetch_sub(1, std::memory_order_seq_cst);
  const uint64_t durable_end = header.durable_end.load(std::memory_order_acquire);
  patience.waited_ms = durable_end == patience.last_durable_end ? patience.waited_ms + kFollowerCapMs : 0;
  patience.last_durable_end = durable_end;
  const int holder = header.flush.holder();
  // A disk may take longer than any limit; a stopped process has no such excuse.
  if (patience.waited_ms < header.settings.lock_timeout_ms.peek() || !is_stopped(holder)) return {};
  return Error{ErrorKind::io,
               gate_.object() + ": the outcome is unknown: the journal is held by " +
                   describe_holder(holder) + "; continue or end it",
               0};
}

Result<void> Flusher::lead(FlushGoal goal) {
  SegmentHeader& header = gate_.header();
  Result<void> led = lead_once(goal);
  // A lock that did not come or a descriptor that could not be had says nothing about the file.
  if (led.ok() || header.file_failed.load(std::memory_order_acquire) == 0) return led;
  // Never a second sync of that file: its pages may have been dropped, and the error told only once.
  std::string why = led.error().text;
  for (int attempt = 0; attempt < 2; ++attempt) {
    Result<void> moved = continue_in_new_file();
    // No room for another file, say: the next leader tries again.
    if (!moved.ok()) return unknown(why + "; then " + moved.error().text);
    moved = lead_once(FlushGoal::durable);
    if (moved.ok()) return moved;
    why.append("; then ").append(moved.error().text);
    if (header.file_failed.load(std::memory_order_acquire) == 0) return unknown(why);
  }
  header.sync_failed.store(1, std::memory_order_release);
  return unknown(why);
}

Result<void> Flusher::lead_once(FlushGoal goal) {
  SegmentHeader& header = gate_.header();
  FQ_TRY_SET(const FlushPlan plan, make_plan(goal));
  if (plan.target == plan.durable_end) return {};
  if (goal == FlushGoal::tidy && (plan.awaited || plan.salvage)) return {};
  if (header.file_failed.load(std::memory_order_acquire) != 0) {
    return Error{ErrorKind::io, gate_.object() + ": a journal file failed before", 0};
  }
  const bool sync = goal == FlushGoal::durable || plan.awaited || plan.solid || plan.salvage;
  const bool unsynced_left_ring = plan.durable_end < plan.ring_start;
  if (unsynced_left_ring && header.sync_under_way.load(std::memory_order_acquire) != 0) {
    // The mark outlives only a leader that died. Its sync may have met an error over bytes that are in no
    // ring any more, and the kernel tells it once: only a copy in another file is certain.
    return failed(Error{ErrorKind::io, gate_.object() + ": a sync was cut short", 0});
  }
  if (plan.salvage) {
    FQ_TRY(write_salvaged(plan));
  } else {
    FQ_TRY(write_pieces(plan));
  }
  FQ_POINT("flush.written");
  if (goal == FlushGoal::tidy) {
    header.written_end.store(plan.target, std::memory_order_relaxed);
    return {};
  }
  if (sync) {
    FQ_TRY(sync_file(plan.pieces.back().key));
    FQ_TRY(lock_file_.check_generation(header.identity.generation));
  }
  return publish(plan, sync);
}

Result<FlushPlan> Flusher::make_plan(FlushGoal goal) {
  SegmentHeader& header = gate_.header();
  FlushPlan plan;
  plan.pieces.reserve(kPiecesAhead);
  Result<void> made = gate_.locked([&]() -> Result<void> {
    JournalTable& table = gate_.stream().table();
    plan.durable_end = header.durable_end.load(std::memory_order_relaxed);
    plan.ring_start = header.ring_start.load(std::memory_order_relaxed);
    plan.target = header.tail;
    plan.awaited = header.servable_end < plan.target;
    plan.solid = header.solid_end > plan.durable_end;
    plan.salvage = header.resealed_end > plan.durable_end;
    if (plan.salvage) {
      plan.failed_key = table.key(header.salvage_file);
      plan.failed_start = table.slot(header.salvage_file).start;
    }
    // One piece at least, so that there is a file to sync when all was written before.
    uint64_t from = plan.salvage ? plan.durable_end : plan.ring_start;
    if (goal == FlushGoal::tidy) from = std::max(from, header.written_end.load(std::memory_order_relaxed));
    while (from < plan.target || plan.pieces.empty()) {
      const std::optional<uint32_t> number =
          from < plan.target ? table.find(from) : std::optional<uint32_t>(header.current_file);
      if (!number) return Error{ErrorKind::io, gate_.object() + ": the stream's end lies in no file", 0};
      const JournalSlot& slot = table.slot(*number);
      FlushPiece piece;
      piece.key = table.key(*number);
      piece.start = slot.start;
      piece.from = from;
      piece.to = slot.state == FileState::current ? plan.target : std::min<uint64_t>(plan.target, slot.end);
      if (piece.to <= piece.from && from < plan.target) throw RegionDamaged{"a journal file has no end"};
      piece.opened.start_position = slot.start;
      // Of then: it may be written a second time, after the clock was set.
      std::memcpy(piece.opened.clock.boot_id, header.identity.boot_id, sizeof header.identity.boot_id);
      piece.opened.clock.wall_minus_boot_ms = gate_.store().wall_minus_boot_at(slot.start);
      const std::optional<uint32_t> previous = slot.start == 0 ? std::nullopt : table.find(slot.start - 1);
      if (previous) piece.previous = table.key(*previous);
      piece.opened.previous_number = piece.previous.number;
      plan.pieces.push_back(piece);
      from = piece.to;
    }
    return {};
  });
  FQ_TRY(std::move(made));
  return plan;
}

Result<void> Flusher::write_pieces(const FlushPlan& plan) {
  bool unsynced = plan.durable_end < plan.pieces.front().from;
  for (const FlushPiece& piece : plan.pieces) {
    if (piece.from == piece.to) continue;
    if (piece.from == piece.start && unsynced) {
      // The old file is made durable before the first byte of the new one: its end is what OPENED proves.
      FQ_TRY(sync_file(piece.previous));
    }
    Result<File*> opened = files_.get(piece.key);
    // All that belongs there still is in the ring: a file that is gone or damaged before it was used is done
    // without.
    if (!opened.ok() && piece.from == piece.start && is_useless(opened.error()))
      return failed(std::move(opened).error());
    FQ_TRY_SET(File * file, std::move(opened));
    if (piece.from == piece.start) {
      // On disk before any record of this file: a file whose OPENED is missing counts as never used.
      FQ_TRY(write_opened(*file, piece));
      FQ_TRY(sync_file(piece.key));
    }
    FQ_TRY(write_from_ring(*file, piece));
    unsynced = true;
  }
  return {};
}

Result<void> Flusher::write_opened(File& file, const FlushPiece& piece) {
  OpenedRecord opened = piece.opened;
  // The first record's own header holds the sequence number that this file begins with.
  std::array<std::byte, kRecordHeaderBytes> first;
  gate_.stream().copy_out(piece.from, first);
  opened.first_seq = header_field::seq.of(first);
  Result<void> written =
      file.write_at(kFileHeaderBytes, encode_opened(piece.key, opened, gate_.now().wall_ms));
  return written.ok() ? std::move(written) : failed(std::move(written).error());
}

Result<void> Flusher::write_from_ring(File& file, const FlushPiece& piece) {
  uint64_t from = piece.from;
  while (from < piece.to) {
    const uint64_t to_ring_end = kRingBytes - from % kRingBytes;
    const uint64_t bytes = std::min(piece.to - from, to_ring_end);
    Result<void> written =
        file.write_at(kFirstRecordOffset + (from - piece.start), gate_.stream().view(from, bytes));
    if (!written.ok()) return failed(std::move(written).error());
    from += bytes;
  }
  return {};
}

Result<void> Flusher::sync_file(const FileKey& key) {
  SegmentHeader& header = gate_.header();
  FQ_TRY_SET(File * file, files_.get(key));
  // The mark is for whoever inherits from a leader that dies in here.
  header.sync_under_way.store(1, std::memory_order_release);
  FQ_POINT("flush.syncing");
  Result<void> synced = file->sync_data();
  FQ_POINT("flush.synced");
  if (!synced.ok()) return failed(std::move(synced).error());
  header.sync_under_way.store(0, std::memory_order_release);
  FQ_TRY_SET(const bool named, file->has_name());
  if (named) return {};
  // Nothing in it may be called durable.
  files_.forget(key.number);
  return files_.gone(key.number);
}

Error Flusher::failed(Error error) {
  gate_.header().file_failed.store(1, std::memory_order_release);
  return error;
}

Result<void> Flusher::publish(const FlushPlan& plan, bool synced) {
  SegmentHeader& header = gate_.header();
  return gate_.locked([&]() -> Result<void> {
    if (synced && header.servable_end < plan.target) {
      Txn txn = gate_.store().begin();
      txn.set(header.servable_end, plan.target);
      txn.commit();
    }
    FQ_POINT("flush.servable");
    gate_.apply_pending();
    FQ_POINT("flush.applied");
    // Whatever is not applied yet is still read from the ring.
    header.ring_start.store(std::min<uint64_t>(plan.target, header.applied_end), std::memory_order_release);
    // Where a file was crossed, the one before was synced: what is not durable lies in one file (J5).
    const FlushPiece& last = plan.pieces.back();
    const uint64_t proved = synced ? plan.target : std::max(plan.durable_end, last.start);
    if (proved > plan.durable_end) header.durable_end.store(proved, std::memory_order_release);
    if (proved >= header.limits_position) {
      Txn txn = gate_.store().begin();
      txn.set(header.id_limit, std::max<uint64_t>(header.id_limit, header.id_limit_pending));
      txn.set(header.serial_limit, std::max<uint64_t>(header.serial_limit, header.serial_limit_pending));
      txn.commit();
    }
    return {};
  });
}

}  // namespace fq
