#include "core/local/recover/rebuild_files.h"

// System.
#include <algorithm>
#include <cerrno>
// fq, below us.
#include "core/base/disk/disk_full.h"
#include "core/journal/holes.h"
#include "core/journal/lost_header.h"
// fq, this room.
#include "core/local/flush/file_supply.h"
#include "core/local/shared/journal_table.h"

namespace fq {

namespace {

// Less room than this in the last file is not worth going on in it.
constexpr uint64_t kRoomToGoOn = 64 * 1024;
// But on a full disk it is, as long as it takes what a rebuild itself writes and some ends of messages.
constexpr uint64_t kRoomToDrain = 4 * 1024;
constexpr size_t kBlockBytes = 64 * 1024;  // arbitrary

/// A torn end made a clean one, in blocks that are there: zeros over all that lies behind the last record, so
/// that nothing of it can be taken for new. Torn bytes were promised to nobody. Half of it is a torn end
/// again.
Result<void> wipe_torn_end(Disk& disk, const JournalFile& last) {
  FQ_TRY_SET(const std::unique_ptr<File> file, open_journal_file(disk, last.key));
  if (file == nullptr) return Error{ErrorKind::later, journal_file_name(last.key.number) + ": is gone", 0};
  const std::vector<std::byte> zeros(kBlockBytes);
  uint64_t offset = kFirstRecordOffset + (last.end_position - last.start_position);
  while (offset < last.file_bytes) {
    const auto part = static_cast<size_t>(std::min<uint64_t>(zeros.size(), last.file_bytes - offset));
    FQ_TRY(file->write_at(offset, Bytes(zeros).first(part)));
    offset += part;
  }
  return file->sync_data();
}

/// Makes durable what was read, perhaps from memory only, from `proven` to the file's last record. A sync
/// alone proves nothing: one before it may have failed, after which the kernel takes those pages for clean.
Result<void> write_again(File& file, const JournalFile& of, uint64_t proven) {
  const bool opening_too = proven <= of.start_position;
  uint64_t offset = opening_too ? kFileHeaderBytes : kFirstRecordOffset + (proven - of.start_position);
  const uint64_t end = kFirstRecordOffset + (of.end_position - of.start_position);
  std::vector<std::byte> block(kBlockBytes);
  while (offset < end) {
    const auto want = static_cast<size_t>(std::min<uint64_t>(block.size(), end - offset));
    HolePages holes;
    FQ_TRY_SET(const size_t got, read_around_holes(file, offset, MutableBytes(block).first(want), holes));
    if (got == 0) break;
    // Over what the disk does not give back nothing is written: it may yet.
    for (const auto& [from, bytes] : holes.readable(offset, got))
      FQ_TRY(file.write_at(from, Bytes(block).subspan(from - offset, bytes)));
    offset += got;
  }
  return file.sync_all();
}

/// Not behind a file of another queue, say, whose number the table cannot reach.
bool has_lost_newest(const SegmentHeader& header, const ScanResult& scan) {
  if (scan.lost_number == 0) return false;
  if (scan.files.empty()) return true;
  return scan.lost_number - header.oldest_file < kJournalFilesMax - 2;  // of it, the next one, and one more
}

}  // namespace

Result<void> RebuildFiles::set_aside(uint32_t number, std::string what) {
  Result<std::string> aside = set_file_aside(disk(), number);
  if (!aside.ok() && aside.error().sys != ENOENT) return std::move(aside).error();
  if (aside.ok()) what.append("; kept as ").append(*aside);
  notice(std::move(what));
  return {};
}

Result<void> RebuildFiles::report_damage(const ScanResult& scan) {
  for (const JournalDamage& damage : scan.damage) {
    const auto file = std::find_if(scan.files.begin(), scan.files.end(), [&](const JournalFile& each) {
      return each.key.number == damage.file_number;
    });
    std::string notice = described(damage);
    // Damage from its first byte on, or not what its name says: the number is wanted for a new file.
    if (file == scan.files.end() && damage.offset == 0) {
      FQ_TRY(set_aside(damage.file_number, std::move(notice)));
      continue;
    }
    const Result<KeptDamage> kept = keep_damage(disk(), damage);
    // A full disk has no room for a copy; the damaged file stays as long as anything in it lives.
    if (!kept.ok() && kept.error().kind != ErrorKind::later) return kept.error();
    if (kept.ok()) notice += described(damage, *kept);
    if (damage.offset == 0 && kept.ok() && file->header_lost) {
      FQ_TRY(write_header_anew(disk(), FileHeader{file->key, clock().wall_ms()}));
      notice.append("; written anew");
    }
    grip_.notice(std::move(notice));
  }
  return {};
}

Result<void> RebuildFiles::remove_unusable(const ScanResult& scan) {
  // Not in use, though old bytes in them might still parse; our own temporary names. One that is damage, too,
  // was set aside.
  for (const std::string& name : scan.leftovers) FQ_TRY(disk().remove("journal/" + name));
  for (const JournalFile& file : scan.stale) {
    Result<void> removed = disk().remove(journal_file_name(file.key.number));
    if (!removed.ok() && removed.error().sys != ENOENT) return removed;
  }
  return {};
}

/// With nothing that was made by somebody else, or is only a header, in its way.
Result<void> RebuildFiles::make_file(const FileKey& key) {
  const FileHeader header{key, clock().wall_ms()};
  Result<void> made = make_journal_file(disk(), header, kYoungFileBytes);
  if (made.ok() || made.error().sys != EEXIST) return made;
  FQ_TRY(set_aside(key.number, journal_file_name(key.number) + ": is not a journal file of this queue"));
  return make_journal_file(disk(), header, kYoungFileBytes);
}

/// The numbers of files that are lost behind the last one in use stay theirs, with a stretch of the stream:
/// what opens the next file names the newest of them as the one before, by which the journal tells of the
/// loss from now on, as of one in its midst.
void RebuildFiles::pass_over(Store& store, const ScanResult& scan) {
  SegmentHeader& header = store.header();
  JournalTable table(header);
  Txn txn = store.begin();
  if (scan.files.empty()) {
    // Of those before it nobody knows whether they were needed still.
    txn.set(header.newest_file, scan.lost_number - 1);
    table.add_ready(txn, {scan.lost_number, 0}, 0);
    txn.set(table.slot(scan.lost_number).start, 0);
    txn.set(header.oldest_file, scan.lost_number);
    txn.set(header.current_file, scan.lost_number);
  }
  while (header.current_file < scan.lost_number) {
    table.add_ready(txn, {header.newest_file + 1, 0}, 0);
    table.open_next(txn);
  }
  const uint64_t end = header.tail + kRecordAlign;
  txn.set(header.tail, end);
  txn.set(header.applied_end, end);
  txn.set(header.servable_end, end);
  txn.commit();
  header.committed_end.store(end, std::memory_order_release);
  header.ring_start.store(end, std::memory_order_release);
  header.durable_end.store(end, std::memory_order_release);
}

Result<void> RebuildFiles::choose(Store& store, const ScanResult& scan) {
  SegmentHeader& header = store.header();
  JournalTable table(header);
  // Before anybody rests on the tail, it is made durable.
  for (const JournalFile& file : scan.files) {
    if (file.end_position <= scan.durable_position && &file != &scan.files.back()) continue;
    FQ_TRY_SET(const std::unique_ptr<File> opened, open_journal_file(disk(), file.key));
    if (opened != nullptr) FQ_TRY(write_again(*opened, file, scan.durable_position));
  }
  if (has_lost_newest(header, scan)) pass_over(store, scan);
  uint32_t newest = header.current_file;
  const uint32_t last_used = newest;
  for (const JournalFile& file : scan.ready) {
    if (file.key.number == newest + 1) {
      if (file.older_format) FQ_TRY(write_header_anew(disk(), FileHeader{file.key, clock().wall_ms()}));
      Txn txn = store.begin();
      table.add_ready(txn, file.key, file.file_bytes);
      txn.commit();
      newest = file.key.number;
    } else if (file.key.number < last_used || file.key.number > newest) {
      // Passed over when another file was opened, or behind a number that is gone.
      FQ_TRY(disk().remove(journal_file_name(file.key.number)));
    }
  }
  const uint64_t room = scan.files.empty() ? 0 : table.current_room();
  const bool older_format = !scan.files.empty() && scan.files.back().older_format;
  bool go_on = scan.clean_end && !older_format && room >= kRoomToGoOn;
  while (!table.has_ready()) {
    FileKey key;
    key.number = header.newest_file + 1;
    fill_random(&key.salt, sizeof key.salt);
    Result<void> made = make_file(key);
    // On a full disk a queue that can go on in its last file may still be drained.
    if (!made.ok() && !go_on && room >= kRoomToDrain && is_disk_full(made.error())) {
      if (!scan.clean_end) FQ_TRY(wipe_torn_end(disk(), scan.files.back()));
      // Each copy of a header lies in a sector of its own, so that one of them is whole at any moment.
      if (older_format)
        FQ_TRY(write_header_anew(disk(), FileHeader{scan.files.back().key, clock().wall_ms()}));
      go_on = true;
    }
    if (!made.ok() && go_on) break;
    FQ_TRY(std::move(made));
    Txn txn = store.begin();
    table.add_ready(txn, key, kYoungFileBytes);
    txn.commit();
    if (go_on) break;
  }
  Txn txn = store.begin();
  if (go_on) {
    txn.set(table.slot(header.current_file).state, FileState::current);
  } else if (last_used == 0) {
    JournalSlot& first = table.slot(header.newest_file);
    txn.set(first.start, 0);
    txn.set(first.state, FileState::current);
    txn.set(header.oldest_file, header.newest_file);
    txn.set(header.current_file, header.newest_file);
  } else {
    table.open_next(txn);
  }
  txn.commit();
  return {};
}

}  // namespace fq
