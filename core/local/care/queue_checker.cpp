#include "core/local/care/queue_checker.h"

// System.
#include <algorithm>
#include <cerrno>
// fq, below us.
#include "core/base/fault_point.h"
#include "core/base/text/counted.h"
#include "core/engine/signals_allowed.h"
#include "core/schedule/check/faults.h"
// fq, this room.
#include "core/local/care/segment_copy.h"
#include "core/local/shared/journal_size.h"
#include "core/local/write/files_stay.h"

namespace fq {

namespace {

constexpr int64_t kTimerSlackMs = 2;  // wall and boot time are both cut to milliseconds
constexpr int kCheckTries = 5;

Result<std::unique_ptr<Store>> private_store() {
  FQ_TRY_SET(std::unique_ptr<SegmentMemory> memory, private_segment());
  return std::make_unique<Store>(std::move(memory));
}

}  // namespace

/// What is behind `tail` is of no concern, and was perhaps written while it was read: a record that was not
/// there yet looks damaged once a later one is.
void QueueChecker::forget_behind(uint64_t tail, const ScanResult& scan, std::vector<JournalDamage>& damage) {
  std::erase_if(damage, [&](const JournalDamage& each) {
    return std::any_of(scan.files.begin(), scan.files.end(), [&](const JournalFile& file) {
      const uint64_t offset = std::max<uint64_t>(each.offset, kFirstRecordOffset) - kFirstRecordOffset;
      return file.key.number == each.file_number && file.start_position + offset >= tail;
    });
  });
}

/// What the segment knows to be on disk, and the scan could only take for a torn end.
void QueueChecker::find_early_end(std::span<const TableFile> files, const SegmentHeader& copied,
                                  const ScanResult& scan, std::vector<JournalDamage>& damage) {
  if (scan.files.empty() || scan.end_position >= copied.tail) return;
  const JournalFile& last = scan.files.back();
  const uint32_t number = last.key.number;
  const bool known = std::any_of(damage.begin(), damage.end(),
                                 [&](const JournalDamage& each) { return each.file_number == number; });
  const auto file = std::find_if(files.begin(), files.end(),
                                 [&](const TableFile& each) { return each.key.number == number; });
  if (known || file == files.end()) return;
  const uint64_t end = std::min<uint64_t>(file->end, copied.tail);
  if (end <= scan.end_position) return;  // what is missing lies in the next
  JournalDamage early;
  early.file_number = number;
  early.offset = kFirstRecordOffset + (scan.end_position - last.start_position);
  if (early.offset < last.file_bytes)
    early.bytes = std::min(end - scan.end_position, last.file_bytes - early.offset);
  early.records_lost = copied.next_seq > scan.next_seq ? copied.next_seq - scan.next_seq : 0;
  early.what = early.bytes == 0 ? "the file ends early" : "records are damaged";
  damage.push_back(std::move(early));
}

/// Files that the segment counts on below `tail` and that are not there, or hold nothing that is theirs,
/// unless that was found already.
Result<void> QueueChecker::find_unread(std::span<const TableFile> files, uint64_t tail,
                                       const ScanResult& scan, std::vector<JournalDamage>& damage) {
  for (const TableFile& file : files) {
    const uint32_t number = file.key.number;
    // Nothing in it is needed: given back by somebody who died before he could say so, or never used.
    const bool dead = !file.current && !file.spare && file.live == 0;
    const bool known = std::any_of(damage.begin(), damage.end(),
                                   [&](const JournalDamage& each) { return each.file_number == number; });
    const bool read = std::any_of(scan.files.begin(), scan.files.end(),
                                  [&](const JournalFile& each) { return each.key.number == number; });
    if (dead || known || read) continue;
    const Result<std::unique_ptr<File>> on_disk = disk().open(journal_file_name(number), OpenMode::read);
    if (!on_disk.ok() && on_disk.error().sys != ENOENT) return on_disk.error();
    if (!on_disk.ok()) damage.push_back({number, 0, 0, 0, "the file is missing"});
    // One that failed holds nothing of its own, and what is behind `tail` need not be written yet.
    const bool used = file.start < std::min(file.end, tail);
    if (!on_disk.ok() || !used) continue;
    FQ_TRY_SET(const uint64_t bytes, (*on_disk)->size());
    damage.push_back({number, 0, bytes, 0, "nothing in the file can be read"});
  }
  return {};
}

Result<QueueChecker::Front> QueueChecker::front() {
  Front front;
  FQ_TRY(locked([&]() -> Result<void> {
    front.oldest = header().oldest_file;
    front.needed = front.oldest + JournalSize(header()).dead_files();
    return {};
  }));
  return front;
}

/// One that was needed before is taken out of the directory first, and then out of the table: by another
/// process, which may have died in between.
bool QueueChecker::lacks_file(uint32_t first, uint32_t end) {
  for (uint32_t number = first; number < end; ++number) {
    const Result<std::unique_ptr<File>> file = disk().open(journal_file_name(number), OpenMode::read);
    if (!file.ok() && file.error().sys == ENOENT) return true;
  }
  return false;
}

Result<Checked> QueueChecker::check_settled(Interrupt* interrupt) {
  // A file that goes while it is read would look like damage: such a look is made again.
  for (int attempt = 0;; ++attempt) {
    FQ_TRY_SET(const Front before, front());
    Result<Checked> checked = check_once(interrupt);
    FQ_TRY_SET(const Front after, front());
    // Also one that was given back before, and is taken out of the directory only now.
    const bool went = before.oldest != after.oldest || (!checked.ok() && checked.error().sys == ENOENT) ||
                      lacks_file(before.needed, after.needed);
    if (!went) return checked;
    // What it found may be of files that went.
    if (attempt == kCheckTries) {
      return Error{ErrorKind::later,
                   object() + ": its journal grows faster than it can be checked; try again", 0};
    }
  }
}

Result<Checked> QueueChecker::check_once(Interrupt* interrupt) {
  FQ_TRY_SET([[maybe_unused]] const FilesStay held, FilesStay::hold(link_));
  Checked checked;
  CheckReport& report = checked.report;
  FQ_TRY_SET(const std::unique_ptr<Store> live, private_store());
  FQ_TRY_SET(const std::unique_ptr<Store> rebuilt, private_store());
  FQ_TRY_SET(const Now now, SegmentCopy(link_, *live).make());
  FQ_POINT("check.copied");
  std::vector<std::string> faults;
  try {
    const SignalsAllowed allowed(true);
    Gate alone(*live, clock(), object());
    alone.apply_pending();
    while (alone.fire_timers(now, 1024)) {
    }
  } catch (const RegionDamaged& damage) {
    faults.push_back(damage.what);
  }
  const SegmentHeader& copy = live->header();
  FQ_TRY(flusher().wait_durable(copy.tail));
  // Not as it was copied: a sync that failed since, or whose leader died, moved to other files what was not
  // durable yet. What is durable stays where it is now until it is given back.
  FQ_TRY_SET(const std::vector<TableFile> files, files_.all());
  // The rest takes seconds for a long queue.
  const SignalsAllowed allowed(true);
  const ReplayUntil until{copy.tail, copy.applied_end, interrupt};
  rebuilt->set_private(true);
  FQ_TRY(initialise_segment(*rebuilt));
  {
    Txn txn = rebuilt->begin();
    for (size_t i = 0; i < 2; ++i) txn.set(rebuilt->header().key_secret[i], copy.key_secret[i]);
    txn.commit();
  }
  FQ_TRY_SET(const Replayed replayed, replay_journal(disk(), *rebuilt, Holes::taken, until));
  for (;;) {
    Txn txn = rebuilt->begin();
    const bool fired = rebuilt->schedule().timers().fire(txn, now.boot_ms) > 0;
    txn.commit();
    if (!fired) break;
  }

  report.records = replayed.scan.records;
  const CountsNow counts(copy.schedule.counts);
  report.messages = uint64_t{counts.ready} + counts.delayed + counts.leased + counts.dead + counts.held;
  checked.damage = replayed.scan.damage;
  forget_behind(copy.tail, replayed.scan, checked.damage);
  find_early_end(files, copy, replayed.scan, checked.damage);
  FQ_TRY(find_unread(files, copy.tail, replayed.scan, checked.damage));
  for (const JournalDamage& damage : checked.damage) {
    report.findings.add("damage: " + described(damage) +
                        (damage.bytes == 0 ? "" : ", " + counted(damage.bytes, "byte")));
  }
  for (const std::string& name : replayed.scan.unknown)
    report.findings.add("journal/" + name + ": not made by fq; move it away");
  for (std::string& fault : schedule_faults(live->schedule())) faults.push_back(std::move(fault));
  checked.segment_is_whole = faults.empty();
  for (const std::string& fault : faults) report.findings.add("segment: " + fault);
  checked.differences = schedule_differences(live->schedule(), rebuilt->schedule(), kTimerSlackMs);
  if (checked.segment_is_whole && (!checked.damage.empty() || checked.differs()))
    checked.older_records = find_older_records(live->schedule(), rebuilt->schedule());
  Result<std::vector<std::string>> set_aside = disk().list("damaged");
  if (set_aside.ok()) {
    std::sort(set_aside->begin(), set_aside->end());
    for (const std::string& name : *set_aside) report.set_aside.add("damaged/" + name);
  }
  return checked;
}

Result<Checked> QueueChecker::check_all(Interrupt* interrupt) {
  FQ_TRY_SET(Checked checked, check_settled(interrupt));
  FQ_TRY(blobs_.check(checked, interrupt));
  FQ_TRY(files_.find_worn_headers(checked.report));
  FQ_TRY(files_.find_lost_secret(checked.report));
  return checked;
}

}  // namespace fq
