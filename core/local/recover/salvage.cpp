// salvage - the flusher's way on after a file failed: everything past durable_end into another file.
//
// Two steps, so that dying between them loses nothing: first, in one transaction, the mapping changes (the
// failed file ends at durable_end, the new one begins there); then the bytes are gathered, sealed anew and
// written. resealed_end > durable_end tells the next leader that the second step is still owed. What had left
// the ring unsynced is read from the failed file; where that gives nothing back a hole goes along, which is
// damage like any other: told, and the rest is served. Behind it stands a record that memory holds, and which
// says that the stream was on disk up to there.

#include "core/local/flush/flush.h"

// System.
#include <algorithm>
#include <cerrno>
#include <cstring>
// fq, below us.
#include "core/base/fault_point.h"
#include "core/journal/holes.h"
// fq, this room.
#include "core/local/flush/file_supply.h"
#include "core/local/files/process_info.h"
#include "core/local/shared/segment_lock.h"

namespace fq {

namespace {
// Room behind what is salvaged, so that the queue can go on while the next file is made.
constexpr uint64_t kSalvageMarginBytes = 512 * 1024;
constexpr int64_t kMakerTimeoutMs = 5'000;  // chosen: against a deadlock, whatever lock_timeout is
}  // namespace

Result<void> Flusher::make_room_for(uint64_t bytes, FileKey& key) {
  const uint64_t needed = kFirstRecordOffset + bytes + kSalvageMarginBytes;
  bool ready = false;
  FQ_TRY(gate_.locked([&]() -> Result<void> {
    SegmentHeader& header = gate_.header();
    JournalTable& table = gate_.stream().table();
    const uint32_t next = header.current_file + 1;
    ready = table.has_ready() && table.slot(next).state == FileState::ready &&
            table.slot(next).bytes >= kFirstRecordOffset + bytes;
    if (ready) key = table.key(next);
    return {};
  }));
  // One that was damaged before it was used is left out.
  if (ready) {
    const Result<File*> opened = files_.get(key);
    ready = opened.ok() || !is_useless(opened.error());
  }
  if (ready) return {};
  // Upwards in the lock order, so with a limit: nobody waits for the disk while holding it.
  SegmentHeader& header = gate_.header();
  const std::optional<SegmentLock> held = SegmentLock::take(header, header.compaction, kMakerTimeoutMs);
  if (!held)
    return held_by(gate_.object() + ": journal files are held", header.compaction.holder(), ErrorKind::io);
  return make_large_file(needed, key);
}

Result<void> Flusher::make_large_file(uint64_t bytes, FileKey& key) {
  FQ_TRY(gate_.locked([&]() -> Result<void> {
    key.number = gate_.header().newest_file + 1;
    return {};
  }));
  fill_random(&key.salt, sizeof key.salt);
  FQ_TRY(supply_new_file(files_.disk(), FileHeader{key, gate_.now().wall_ms}, bytes));
  return gate_.locked([&]() -> Result<void> {
    Txn txn = gate_.store().begin();
    gate_.stream().table().add_ready(txn, key, bytes);
    txn.commit();
    return {};
  });
}

Result<void> Flusher::continue_in_new_file() {
  SegmentHeader& header = gate_.header();
  const uint64_t durable_end = header.durable_end.load(std::memory_order_acquire);
  Body fence;
  encode_clock(fence, {});  // its room: nothing is allocated under the lock
  const uint64_t behind =
      header.committed_end.load(std::memory_order_acquire) - durable_end + record_bytes(fence);
  FileKey key;
  FQ_TRY(make_room_for(behind, key));
  FQ_POINT("salvage.ready");
  return gate_.locked([&]() -> Result<void> {
    JournalTable& table = gate_.stream().table();
    if (kFirstRecordOffset + (header.tail - durable_end) + record_bytes(fence) >
        table.slot(key.number).bytes) {
      return Error{ErrorKind::io, gate_.object() + ": the journal grew while it was moved", 0};
    }
    const uint32_t failed = table.find(durable_end == 0 ? 0 : durable_end - 1).value_or(header.oldest_file);
    Txn txn = gate_.store().begin();
    // Where [durable_end, ring_start) lies; a second failure in a row keeps the first source.
    if (header.resealed_end <= durable_end)
      txn.set(header.salvage_file, table.find(durable_end).value_or(failed));
    for (uint32_t n = failed; n < key.number; ++n) {
      JournalSlot& slot = table.slot(n);
      if (slot.start == UINT64_MAX || slot.start > durable_end) txn.set(slot.start, durable_end);
      txn.set(slot.end, durable_end);
      txn.set(slot.state, slot.start == durable_end ? FileState::failed : FileState::sealed);
    }
    JournalSlot& next = table.slot(key.number);
    txn.set(next.start, durable_end);
    txn.set(next.end, 0);
    txn.set(next.state, FileState::current);
    txn.set(header.current_file, key.number);
    table.recount_sealed(txn);
    // What others append until the stream is on disk does not say that it was, up to a hole at its end.
    const uint64_t ring_start = gate_.stream().ring_start();
    if (durable_end < ring_start && ring_start == header.tail) append_fence(txn, fence);
    txn.set(header.resealed_end, header.tail);
    recount_live(txn, durable_end, failed, key.number);
    txn.commit();
    gate_.stream().publish();
    header.sync_under_way.store(0, std::memory_order_release);
    header.file_failed.store(0, std::memory_order_release);
    header.written_end.store(durable_end, std::memory_order_relaxed);
    return {};
  });
}

void Flusher::append_fence(Txn& txn, Body& body) {
  SegmentHeader& header = gate_.header();
  ClockRecord clock;
  std::memcpy(clock.boot_id, header.identity.boot_id, sizeof clock.boot_id);
  clock.wall_minus_boot_ms = header.wall_minus_boot_ms;
  encode_clock(body, clock);
  gate_.stream().append(txn, body, MessageId{0}, gate_.note_now(txn).wall_ms);
}

void Flusher::recount_live(Txn& txn, uint64_t durable_end, uint32_t first, uint32_t last) {
  // Lazy messages that were served before they were synced count for the new file now. A walk over all
  // messages, which a failing disk excuses.
  const Schedule& schedule = gate_.store().schedule();
  uint32_t moved = 0;
  uint32_t stayed = 0;
  const uint64_t first_start = gate_.stream().table().slot(first).start;
  for (std::optional<SlotIndex> slot = schedule.views().next_slot(SlotIndex{0}); slot;
       slot = schedule.views().next_slot(SlotIndex{static_cast<uint32_t>(*slot) + 1})) {
    const uint64_t position = schedule.messages().entry(*slot).item_position;
    if (position >= durable_end) ++moved;
    if (position < durable_end && position >= first_start) ++stayed;
  }
  JournalTable& table = gate_.stream().table();
  for (uint32_t n = first; n < last; ++n) txn.set(table.slot(n).live, n == first ? stayed : 0);
  txn.set(table.slot(last).live, moved);
}

/// What the file that failed still gives of its unsynced end: whole records, and zeros where there is none.
Result<void> Flusher::read_failed(const FlushPlan& plan, MutableBytes to) {
  const Result<File*> failed = files_.get(plan.failed_key);
  if (!failed.ok() && !is_useless(failed.error())) return failed.error();
  if (failed.ok()) {
    const uint64_t offset = kFirstRecordOffset + (plan.durable_end - plan.failed_start);
    HolePages holes;
    const Result<size_t> got = read_around_holes(**failed, offset, to, holes);
    if (!got.ok() && got.error().sys != EIO) return got.error();
  }
  // Proved record by record.
  const uint32_t seed = file_seed(plan.failed_key);
  for (uint64_t at = 0; at < to.size();) {
    const auto record = record_at(seed, Bytes(to).subspan(at), plan.durable_end + at);
    if (!record) std::memset(to.data() + at, 0, kRecordAlign);
    at += record ? padded(record->header.bytes) : kRecordAlign;
  }
  return {};
}

Result<std::vector<std::byte>> Flusher::gather(const FlushPlan& plan) {
  std::vector<std::byte> bytes(plan.target - plan.durable_end);
  const uint64_t from_file = std::max(plan.ring_start, plan.durable_end) - plan.durable_end;
  if (from_file > 0) FQ_TRY(read_failed(plan, MutableBytes(bytes).first(from_file)));
  // Our own memory, which needs no proof.
  gate_.stream().copy_out(plan.durable_end + from_file, MutableBytes(bytes).subspan(from_file));
  return bytes;
}

Result<void> Flusher::reseal(const FlushPlan& plan, MutableBytes bytes) {
  uint64_t lost_from = UINT64_MAX;
  uint64_t lost_end = 0;
  for (const FlushPiece& piece : plan.pieces) {
    for (uint64_t at = piece.from; at < piece.to;) {
      const MutableBytes rest = bytes.subspan(at - plan.durable_end);
      if (at < plan.ring_start && header_field::magic.of(rest) != kRecordMagic) {
        lost_from = std::min(lost_from, at);
        lost_end = at += kRecordAlign;
        continue;
      }
      const uint64_t record_bytes = header_field::bytes.of(rest);
      if (record_bytes < kRecordHeaderBytes || record_bytes > rest.size())
        return Error{ErrorKind::io, gate_.object() + ": unsynced records did not survive", 0};
      // Says that the stream was on disk up to here: without that a scan takes the hole for a torn end.
      if (at == lost_end) header_field::durable_distance.put(rest, 0);
      reseal_record(piece.key, rest.first(record_bytes));
      at += padded(record_bytes);
    }
  }
  return lost_end == 0 ? Result<void>() : note_lost(plan.failed_key, lost_from, lost_end);
}

/// Before anybody is told that the stream is on disk so far.
Result<void> Flusher::note_lost(const FileKey& failed, uint64_t from, uint64_t end) {
  SegmentHeader& header = gate_.header();
  header.lost_from.store(from, std::memory_order_relaxed);
  header.lost_end.store(end, std::memory_order_relaxed);
  return gate_.locked([&]() -> Result<void> {
    Txn txn = gate_.store().begin();
    txn.set(gate_.stream().table().slot(failed.number).lost, 1);
    txn.commit();
    return {};
  });
}

Result<void> Flusher::write_salvaged(const FlushPlan& plan) {
  FQ_TRY_SET(std::vector<std::byte> bytes, gather(plan));
  FQ_ASSERT(plan.pieces.size() >= 1);
  FQ_TRY(reseal(plan, bytes));
  for (const FlushPiece& piece : plan.pieces) {
    const Bytes part = Bytes(bytes).subspan(piece.from - plan.durable_end, piece.to - piece.from);
    FQ_TRY_SET(File * file, files_.get(piece.key));
    if (piece.from == piece.start) {
      OpenedRecord opened = piece.opened;
      opened.first_seq = header_field::seq.of(part);  // of a hole: 0, not known
      Result<void> written =
          file->write_at(kFileHeaderBytes, encode_opened(piece.key, opened, gate_.now().wall_ms));
      if (!written.ok()) return failed(std::move(written).error());
      FQ_TRY(sync_file(piece.key));
    }
    Result<void> written = file->write_at(kFirstRecordOffset + (piece.from - piece.start), part);
    if (!written.ok()) return failed(std::move(written).error());
    if (&piece != &plan.pieces.back()) FQ_TRY(sync_file(piece.key));
  }
  FQ_POINT("salvage.written");
  return {};
}

}  // namespace fq
