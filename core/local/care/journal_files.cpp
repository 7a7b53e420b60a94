#include "core/local/care/journal_files.h"

// System.
#include <cerrno>
// fq, below us.
#include "core/base/fault_point.h"
#include "core/journal/lost_header.h"
// fq, this room.
#include "core/local/files/process_info.h"
#include "core/local/shared/segment_lock.h"

namespace fq {

Result<std::vector<TableFile>> JournalFiles::all() {
  std::vector<TableFile> files;
  files.reserve(kJournalFilesMax);  // nothing is allocated under the lock
  FQ_TRY(locked([&]() -> Result<void> {
    files.clear();
    const JournalTable& table = stream().table();
    const uint32_t current = header().current_file;
    for (uint32_t number = header().oldest_file; number <= header().newest_file; ++number) {
      const JournalSlot& slot = table.slot(number);
      const bool is_current = number == current;
      files.push_back({table.key(number), slot.bytes, slot.start, is_current ? UINT64_MAX : slot.end,
                       slot.live, is_current, number > current});
    }
    return {};
  }));
  return files;
}

Result<JournalFiles::HeaderState> JournalFiles::scan_header(const TableFile& file) {
  Result<std::unique_ptr<File>> opened = disk().open(journal_file_name(file.key.number), OpenMode::read);
  if (!opened.ok() && opened.error().sys == ENOENT) return HeaderState::missing;
  FQ_TRY_SET(const std::unique_ptr<File> on_disk, std::move(opened));
  std::vector<std::byte> bytes(kFileHeaderBytes);
  FQ_TRY_SET(const size_t got, read_front(*on_disk, bytes));
  FQ_TRY_SET(const uint64_t size, on_disk->size());
  if (file.spare && size <= kFirstRecordOffset) return HeaderState::foreign;
  FileHeader header;
  if (decode_file_header(Bytes(bytes).first(got), header) == FileHeaderFault::none) {
    const bool ours = header.key.number == file.key.number && header.key.salt == file.key.salt;
    if (!ours) return HeaderState::foreign;
    return file_header_is_whole(Bytes(bytes).first(got)) ? HeaderState::whole : HeaderState::worn;
  }
  FQ_TRY_SET(const bool shown, shows_key(*on_disk, file.key));
  return shown ? HeaderState::lost : HeaderState::foreign;
}

/// The one that the segment hashes with; none: it is in its file too, or there is none yet.
Result<std::optional<KeySecret>> JournalFiles::lost_secret() {
  const KeySecret known{{header().key_secret[0].peek(), header().key_secret[1].peek()}};
  if (!known.is_there()) return std::optional<KeySecret>();
  FQ_TRY_SET(const KeySecret on_disk, read_secret(disk()));
  return on_disk == known ? std::optional<KeySecret>() : known;
}

Result<void> JournalFiles::find_lost_secret(CheckReport& report) {
  FQ_TRY_SET(const std::optional<KeySecret> lost, lost_secret());
  if (lost) report.findings.add("secret: is missing or damaged; fq check --repair writes it anew");
  return {};
}

/// Needs: the compaction lock, so that nobody else writes it.
Result<void> JournalFiles::mend_secret(CheckReport& report) {
  FQ_TRY_SET(const std::optional<KeySecret> lost, lost_secret());
  if (!lost) return {};
  FQ_TRY(write_secret(disk(), *lost));
  report.repairs.add("secret: is missing or damaged; written anew");
  return {};
}

/// What costs nothing yet.
Result<void> JournalFiles::find_worn_headers(CheckReport& report) {
  FQ_TRY_SET(const std::vector<TableFile> files, all());
  for (const TableFile& file : files) {
    FQ_TRY_SET(const HeaderState state, scan_header(file));
    if (state != HeaderState::worn) continue;
    report.remarks.add(journal_file_name(file.key.number) +
                       ": one of the two copies of its header is damaged; harmless, fq check --repair writes "
                       "it anew");
  }
  return {};
}

/// Needs: the compaction lock, so that nobody gives the file back or makes one.
Result<void> JournalFiles::mend_file(const TableFile& file, CheckReport& report) {
  Disk& disk = this->disk();
  const std::string name = journal_file_name(file.key.number);
  const FileHeader header{file.key, gate().now().wall_ms};
  FQ_TRY_SET(const HeaderState state, scan_header(file));
  const bool in_place = state == HeaderState::worn || state == HeaderState::lost;
  if (state == HeaderState::whole || (!in_place && !file.spare)) return {};
  files().forget(file.key.number);
  if (in_place) {
    if (state == HeaderState::lost)
      FQ_TRY(keep_damage(disk, {file.key.number, 0, kFileHeaderBytes, 0, "the file header is damaged"}));
    FQ_TRY(write_header_anew(disk, header));
    report.repairs.add(
        name +
        (state == HeaderState::lost ? ": its header is damaged" : ": a copy of its header is damaged") +
        "; written anew");
    return {};
  }
  std::string what = name + ": the file is missing";
  if (state == HeaderState::foreign) {
    FQ_TRY_SET(const std::string aside, set_file_aside(disk, file.key.number));
    what = name + ": the file is damaged; kept as " + aside;
  }
  FQ_TRY(make_journal_file(disk, header, file.bytes));
  report.repairs.add(what + "; made again, it was not in use yet");
  return {};
}

/// In place of a file with records that are not synced yet the queue goes on in the next.
Result<void> JournalFiles::leave_useless_file(const TableFile& file, CheckReport& report) {
  FQ_TRY_SET(const HeaderState state, scan_header(file));
  if (state != HeaderState::missing && state != HeaderState::foreign) return {};
  bool still = false;  // else it was given back meanwhile, or left with one before it
  FQ_TRY(locked([&]() -> Result<void> {
    const SegmentHeader& shared = header();
    const JournalSlot& slot = stream().table().slot(file.key.number);
    const bool is_current = shared.current_file == file.key.number;
    still = slot.salt == file.key.salt && (is_current || slot.end > shared.durable_end.load());
    return {};
  }));
  if (!still) return {};
  files().forget(file.key.number);
  // As after a failed write: what was not durable is written to another file, by whoever leads next.
  header().file_failed.store(1, std::memory_order_release);
  // The first tells what is lost of it, which the rest of the repair tells one by one.
  if (!link_.wait_all_durable().ok()) FQ_TRY(link_.wait_all_durable());
  report.repairs.add(journal_file_name(file.key.number) +
                     (state == HeaderState::missing ? ": the file is missing" : ": its header is damaged") +
                     "; the queue goes on in another");
  return {};
}

Result<void> JournalFiles::mend(CheckReport& report) {
  SegmentHeader& shared = header();
  std::optional<SegmentLock> held = SegmentLock::take(shared, shared.compaction);
  if (!held) return held_by(object() + ": journal files are held", shared.compaction.holder());
  FQ_TRY_SET(const std::vector<TableFile> files, all());
  for (const TableFile& file : files) FQ_TRY(mend_file(file, report));
  FQ_TRY(mend_secret(report));
  held.reset();
  for (const TableFile& file : files) {
    if (!file.spare && file.end > shared.durable_end.load()) FQ_TRY(leave_useless_file(file, report));
  }
  return {};
}

}  // namespace fq
