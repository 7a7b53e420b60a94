#include "core/local/recover/rescue.h"

// System.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
// fq, below us.
#include "core/base/fault_point.h"
#include "core/base/text/counted.h"
#include "core/journal/holes.h"
// fq, this room.
#include "core/local/flush/flush.h"

namespace fq {

namespace {

constexpr int64_t kRetireWaitMs = 5'000;  // the settings are in the segment that has to be replaced

/// What a file that failed was to hold is not in another one yet.
bool owes_another_file(const SegmentHeader& header) {
  return header.file_failed.load(std::memory_order_acquire) != 0 ||
         header.resealed_end.peek() > header.durable_end.load(std::memory_order_acquire);
}

/// A leader died in a sync, whose error over bytes that are in no ring any more may have been told to nobody
/// else.
bool was_cut_short(const SegmentHeader& header) {
  return header.sync_under_way.load(std::memory_order_acquire) != 0 &&
         header.durable_end.load(std::memory_order_acquire) <
             header.ring_start.load(std::memory_order_acquire);
}

/// The stretch of the stream that begins there, written once more: the kernel takes pages for clean of which
/// it has told an error. False: its records are not whole any more.
Result<bool> write_once_more(File& file, const FilePlace& from, uint64_t position, uint64_t end) {
  FQ_TRY_SET(const uint64_t size, file.size());
  if (size < from.offset || size - from.offset < end - position) return false;
  std::vector<std::byte> bytes(end - position);
  HolePages holes;
  FQ_TRY(read_around_holes(file, from.offset, bytes, holes));
  const uint32_t seed = file_seed(from.key);
  for (uint64_t at = 0; at < bytes.size();) {
    const auto record = record_at(seed, Bytes(bytes).subspan(at), position + at);
    if (!record) return false;
    at += padded(record->header.bytes);
  }
  FQ_TRY(file.write_at(from.offset, bytes));
  return true;
}

}  // namespace

Result<void> Rescue::retire() {
  SegmentHeader& old = grip_.store()->header();
  if (owes_another_file(old) || was_cut_short(old)) salvage_once_more(*grip_.store());
  // All three, by rank: nobody makes a file, leads or changes anything while the old segment ends.
  std::array<RobustMutex*, 3> locks = {&old.compaction, &old.flush, &old.state};
  size_t held = 0;
  for (; held < locks.size(); ++held) {
    const Taken taken = locks[held]->take(kRetireWaitMs);
    if (taken == Taken::owner_died && locks[held] == &old.state) {
      // Undone where that is possible; the journal decides anyway.
      undo_rollback(grip_.store()->memory().base(), grip_.store()->memory().mapped_bytes(), old.undo);
    }
    if (taken == Taken::owner_died) locks[held]->consistent();
    if (taken != Taken::clean && taken != Taken::owner_died) break;
  }
  const bool has_all = held == locks.size();
  if (has_all) {
    Result<void> rescued = rescue_ring(*grip_.store());
    old.phase.store(Phase::retired, std::memory_order_release);
    if (!rescued.ok()) notice(rescued.error().text);
  }
  const int holder = has_all ? 0 : locks[held]->holder();
  while (held > 0) locks[--held]->unlock();
  announce(old.ready_event);
  announce(old.sync_event);
  FQ_POINT("rebuild.retired");
  if (has_all) return {};
  return Error{ErrorKind::later, object() + ": its segment is damaged and held by " + describe_holder(holder),
               0};
}

/// Files failed in a row, and none was tried after them: one that can be made now may take what they did not.
void Rescue::salvage_once_more(Store& old) {
  Gate gate(old, clock(), object());
  OpenFiles files(disk());
  Flusher flusher(gate, files, lock_file());
  old.header().sync_failed.store(0, std::memory_order_release);
  // Where it fails too, and in a segment that is damaged, tell_unsaved says what is lost.
  static_cast<void>(flusher.wait_durable(old.header().committed_end.load(std::memory_order_acquire)));
}

void Rescue::tell_unsaved(uint64_t tail) {
  const uint64_t end = std::exchange(unsaved_end_, 0);
  if (end <= tail) return;
  notice(object() + ": " + counted(end - tail, "byte") +
         " of its journal were in memory only and are lost, with what was accepted and not synced");
}

/// Records that are whole go from the ring to their files; the first that is not ends it.
Result<void> Rescue::rescue_ring(Store& old) {
  SegmentHeader& header = old.header();
  const uint64_t ring_start = header.ring_start.load(std::memory_order_acquire);
  const uint64_t tail = header.tail;
  if (ring_start > tail || tail - ring_start > kRingBytes) return {};
  unsaved_end_ = tail;
  // A file that failed is never synced again: what lies behind durable_end was answered with unknown.
  if (owes_another_file(header)) return {};
  Stream stream(old);
  OpenFiles files(disk());
  File* last = nullptr;
  try {
    // What has left the ring lies in one file, which nobody may have synced yet.
    const uint64_t durable_end = header.durable_end.load(std::memory_order_acquire);
    const auto behind = durable_end < ring_start ? stream.table().place(durable_end) : std::nullopt;
    if (behind) {
      FQ_TRY_SET(last, files.get(behind->key));
    }
    if (behind && was_cut_short(header)) {
      FQ_TRY_SET(const bool whole, write_once_more(*last, *behind, durable_end, ring_start));
      if (!whole) return {};
    }
    for (uint64_t at = ring_start; at < tail;) {
      std::array<std::byte, kRecordHeaderBytes + 8> start;
      stream.copy_out(at, start);
      const std::optional<FilePlace> place = stream.table().place(at);
      if (!place) return {};
      const std::optional<RecordHeader> record = decode_header(place->key, start);
      if (!record || record->position != at || record->bytes > tail - at) return {};
      std::vector<std::byte> bytes(padded(record->bytes));
      stream.copy_out(at, bytes);
      const bool begins_file = place->offset == kFirstRecordOffset;
      if (begins_file && last != nullptr) FQ_TRY(last->sync_data());
      FQ_TRY_SET(last, files.get(place->key));
      if (begins_file) {
        const uint32_t number = at == 0 ? 0 : stream.table().find(at - 1).value_or(0);
        ClockRecord clock;
        std::memcpy(clock.boot_id, header.identity.boot_id, sizeof clock.boot_id);
        clock.wall_minus_boot_ms = grip_.store()->wall_minus_boot_at(at);
        const OpenedRecord opened{number, at, record->seq, clock};
        FQ_TRY(last->write_at(kFileHeaderBytes, encode_opened(place->key, opened, record->at_wall_ms)));
        FQ_TRY(last->sync_data());
      }
      FQ_TRY(last->write_at(place->offset, bytes));
      at += bytes.size();
    }
  } catch (const RegionDamaged&) {
    // Its file table is damaged too: what had left the ring is all that there is.
    return {};
  }
  if (last != nullptr) FQ_TRY(last->sync_data());
  unsaved_end_ = 0;
  header.durable_end.store(tail, std::memory_order_release);
  return {};
}

}  // namespace fq
