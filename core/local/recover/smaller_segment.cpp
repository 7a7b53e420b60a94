#include "core/local/recover/smaller_segment.h"

// System.
#include <algorithm>
#include <cstring>
// fq, below us.
#include "core/base/fault_point.h"
// fq, this room.
#include "core/local/flush/flush.h"
#include "core/local/shared/journal_size.h"
#include "core/local/files/queue_directory.h"
#include "core/local/shared/segment_size.h"

namespace fq {

bool SmallerSegment::make() {
  Result<LockFile> rebuild_lock = LockFile::open(disk(), "rebuild", true);
  if (!rebuild_lock.ok()) return false;
  const Result<bool> mine = rebuild_lock->try_lock(LockFile::Mode::exclusive);
  if (!mine.ok() || !*mine) return false;
  lock_file().unlock();
  // Not kept: the pages of what was replaced are free once it is unmapped, and none of our locks is in it.
  grip_.unmap();
  was_tried_ = true;
  const Result<bool> alone = lock_file().try_lock(LockFile::Mode::exclusive);
  if (alone.ok() && *alone) {
    // Only a help: whatever keeps us from it, the queue goes on with what it has.
    const Result<void> replaced = replace();
    if (!replaced.ok()) static_cast<void>(disk().remove(kNewSegment));
  }
  grip_.unmap();
  lock_file().unlock();
  return true;
}

Result<void> SmallerSegment::replace() {
  const Error not_now{ErrorKind::later, object() + ": its segment stays as it is", 0};
  // The lock was free for a moment: the process that had it may have removed the queue, or made its segment
  // anew.
  if (!grip_.names_own_lock()) return not_now;
  LockIdentity identity;
  FQ_TRY_SET(const bool has_identity, lock_file().read(identity));
  FQ_TRY_SET(const Found found, grip_.map_segment_there(identity, has_identity));
  if (found != Found::usable || !segment_is_too_large(grip_.store()->header())) return not_now;
  FQ_TRY_SET(const bool at_rest, is_at_rest());
  if (!at_rest) return not_now;
  FQ_POINT("smaller.begin");
  try {
    FQ_TRY_SET(std::unique_ptr<Store> store, build(identity));
    if (store == nullptr) return not_now;
    FQ_POINT("smaller.made");
    store->set_private(false);
    FQ_TRY(disk().rename(kNewSegment, "segment"));
    FQ_POINT("smaller.renamed");
    grip_.store()->header().phase.store(Phase::retired, std::memory_order_release);
  } catch (const RegionDamaged&) {
    // The next process that attaches has it rebuilt.
    return not_now;
  }
  return {};
}

/// Brings the stream to disk. Whether the journal then tells all that lives, and is quickly read.
Result<bool> SmallerSegment::is_at_rest() {
  SegmentHeader& header = grip_.store()->header();
  Gate gate(*grip_.store(), clock(), object());
  OpenFiles files(disk());
  uint64_t end = 0;
  FQ_TRY(gate.locked([&]() -> Result<void> {
    end = header.tail;
    return {};
  }));
  FQ_TRY(Flusher(gate, files, lock_file()).wait_durable(end));
  bool at_rest = false;
  FQ_TRY(gate.locked([&]() -> Result<void> {
    const JournalSize size(header);
    // A journal in which housekeeping is behind would make of the new segment what the old one is.
    at_rest = header.tail == end && header.applied_end == end && header.durable_end == end &&
              header.file_failed == 0 && header.sync_failed == 0 && header.schedule.counts.leased == 0 &&
              !size.is_sparse() && gate.stream().table().journal_bytes() <= kQuicklyReplayedBytes;
    return {};
  }));
  const Schedule& schedule = grip_.store()->schedule();
  at_rest = at_rest && !schedule.policy().is_any_bucket_filling(clock().boot_ms());
  for (std::optional<SlotIndex> slot = schedule.views().next_slot(SlotIndex{0}); at_rest && slot;
       slot = schedule.views().next_slot(SlotIndex{static_cast<uint32_t>(*slot) + 1})) {
    at_rest = (schedule.messages().entry(*slot).flags & kEntryUnwritten) == 0;
  }
  return at_rest;
}

/// None where it would be another queue than the one that is there.
Result<std::unique_ptr<Store>> SmallerSegment::build(const LockIdentity& identity) {
  const SegmentHeader& old = grip_.store()->header();
  FQ_TRY_SET(std::unique_ptr<Store> store, make_segment(grip_, identity));
  SegmentHeader& header = store->header();
  {
    Txn txn = store->begin();
    for (size_t i = 0; i < 2; ++i) txn.set(header.key_secret[i], old.key_secret[i].get());
    txn.commit();
  }
  FQ_TRY_SET(const Replayed replayed, replay_journal(disk(), *store, Holes::refused));
  if (!is_same_queue(*store, replayed)) return std::unique_ptr<Store>();
  carry_files(*store);
  take_over_numbers(*store, grip_.store(), false);
  FQ_TRY(grow_alone(*store, Need{.messages = old.schedule.outcome_count}));
  Txn txn = store->begin();
  store->schedule().past().take_over(txn, grip_.store()->schedule().past());
  txn.set(header.id_limit_pending, header.id_limit);
  txn.set(header.serial_limit_pending, header.serial_limit);
  txn.set(header.resealed_end, old.resealed_end.get());
  txn.set(header.loose_blobs.bytes, old.loose_blobs.bytes.get());
  txn.set(header.loose_blobs.looked_at, old.loose_blobs.looked_at.get());
  txn.set(header.loose_blobs.of_damage, old.loose_blobs.of_damage.get());
  txn.set(header.last_boot_ms, std::max(header.last_boot_ms.get(), old.last_boot_ms.get()));
  txn.set(header.made_bytes, header.segment_bytes);
  txn.commit();
  header.phase.store(Phase::working, std::memory_order_release);
  return store;
}

/// The journal tells the same stream, time and messages, each of them, though perhaps not in the same state:
/// timers fire as they did, up to the last record.
bool SmallerSegment::is_same_queue(const Store& store, const Replayed& replayed) const {
  const SegmentHeader& is = store.header();
  const SegmentHeader& was = grip_.store()->header();
  const auto messages = [](const SegmentHeader& header) {
    return header.schedule.entry_supply.used - header.schedule.outcome_count;
  };
  return replayed.scan.damage.empty() && replayed.has_clock &&
         std::memcmp(replayed.last_boot.boot_id, kernel().boot_id, sizeof kernel().boot_id) == 0 &&
         is.wall_minus_boot_ms == was.wall_minus_boot_ms && is.tail == was.tail &&
         is.schedule.counts.leased == 0 && messages(is) == messages(was) &&
         is.schedule.payload_bytes == was.schedule.payload_bytes;
}

/// The files are as they are: nothing was opened, made or removed.
void SmallerSegment::carry_files(Store& store) const {
  SegmentHeader& to = store.header();
  const SegmentHeader& from = grip_.store()->header();
  Txn txn = store.begin();
  for (uint32_t i = 0; i < kJournalFilesMax; ++i) {
    JournalSlot& slot = to.files[i];
    const JournalSlot& was = from.files[i];
    if (slot.number != was.number) txn.set(slot.live, 0);
    txn.set(slot.number, was.number.get());
    txn.set(slot.state, was.state.get());
    txn.set(slot.salt, was.salt.get());
    txn.set(slot.start, was.start.get());
    txn.set(slot.end, was.end.get());
    txn.set(slot.bytes, was.bytes.get());
    txn.set(slot.lost, was.lost.get());
  }
  txn.set(to.current_file, from.current_file.get());
  txn.set(to.oldest_file, from.oldest_file.get());
  txn.set(to.newest_file, from.newest_file.get());
  txn.set(to.salvage_file, from.salvage_file.get());
  txn.set(to.sealed_bytes, from.sealed_bytes.get());
  txn.commit();
}

}  // namespace fq
