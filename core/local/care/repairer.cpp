#include "core/local/care/repairer.h"

// System.
#include <algorithm>
#include <cerrno>
// fq, below us.
#include "core/base/fault_point.h"
#include "core/base/text/counted.h"
#include "core/base/text/size.h"
#include "core/engine/interruption.h"
// fq, this room.
#include "core/local/files/queue_directory.h"

namespace fq {

namespace {

constexpr int kRounds = 4;  // damage of one kind may hide another

}  // namespace

Result<bool> Repairer::cancel_one(const Compactor::InOldest& lost, CheckReport& report) {
  FQ_TRY_SET(const SettleStatus status,
             mutator_.change(lost.id, Action::cancel, nullptr, lost.item_position));
  if (status != SettleStatus::ok) return false;
  ++report.messages_cancelled;
  report.repairs.add(message_object(number(lost.id)) + ": its record is damaged; cancelled");
  return true;
}

/// Those that no copy can be made of: in the oldest file, or that keep it where it is from another one.
Result<void> Repairer::cancel_unreadable(CheckReport& report) {
  std::vector<Compactor::InOldest> found;
  for (bool at_end = false; !at_end;) {
    FQ_TRY_SET(at_end, compactor_.find_in_oldest(found));
    for (const Compactor::InOldest& each : found) {
      FQ_TRY_SET(const Compactor::Copied copied, compactor_.copy_message(each.id, each.item_position));
      if (copied != Compactor::Copied::unreadable) continue;
      FQ_TRY(cancel_one(each, report));
    }
  }
  for (bool cancelled = true; cancelled;) {
    FQ_TRY_SET(const std::optional<Compactor::InOldest> held, compactor_.carry_replaced());
    if (!held) break;
    FQ_TRY_SET(cancelled, cancel_one(*held, report));
  }
  return mutator_.finish();
}

/// Nothing more is to be written to a file that the disk does not give back, and of what it holds some may
/// come back yet.
Result<void> Repairer::keep_out_of_use(uint32_t file) {
  return locked([&]() -> Result<void> {
    if (file < header().oldest_file || file > header().newest_file) return {};
    Txn txn = store().begin();
    txn.set(stream().table().slot(file).lost, 1);
    txn.commit();
    return {};
  });
}

/// Everything up to and with file `last` is given back, what can be read of it being kept.
Result<void> Repairer::drop_damaged_files(const Checked& found, uint32_t last, CheckReport& report,
                                          CompactReport& compacted, std::vector<std::string>& made) {
  for (const JournalDamage& damage : found.damage) {
    FQ_TRY_SET(KeptDamage kept, keep_damage(disk(), damage));
    report.repairs.add(described(damage) + described(damage, kept));
    if (kept.unread_bytes != 0) FQ_TRY(keep_out_of_use(damage.file_number));
    if (kept.made) made.push_back(std::move(kept.name));
  }
  FQ_TRY_SET(const uint64_t taken, OlderRecords(link_, compactor_).take(found.older_records));
  if (taken > 0)
    report.repairs.add(counted(taken, "message") +
                       " copied anew from the older records that the lost ones were copies of");
  for (int kept = 0; kept < kRounds;) {
    uint32_t oldest = 0;
    FQ_TRY(locked([&]() -> Result<void> { return oldest = header().oldest_file, Result<void>(); }));
    if (oldest > last) break;
    FQ_TRY(unless_interrupted(interrupt_));
    FQ_TRY_SET(const Housekeeper::Given given, housekeeper_.drop_oldest_file(compacted, false));
    if (given == Housekeeper::Given::gone) continue;
    ++kept;
    FQ_TRY(cancel_unreadable(report));
  }
  return {};
}

Result<void> Repairer::set_damage_aside(const Checked& found, uint32_t last, CheckReport& report) {
  std::vector<std::string> ours;  // the copies that were not there yet
  const CountedLines before = report.repairs;
  const uint64_t cancelled = report.messages_cancelled;
  CompactReport compacted;
  Result<void> done = drop_damaged_files(found, last, report, compacted, ours);
  if (done.ok() && compacted.messages_moved > 0)
    report.repairs.add(counted(compacted.messages_moved, "message") + " copied to sound files");
  // A full disk, say. While every file is still there the copies of what is damaged in them only take room.
  if (done.ok() || compacted.files_gone > 0 || report.messages_cancelled > cancelled) return done;
  for (const std::string& name : ours) static_cast<void>(disk().remove(name));
  report.repairs = before;
  Error why = std::move(done).error();
  if (why.sys == EINTR) return why;
  why.text += before.empty() ? "; nothing was repaired or changed" : "; the rest was not repaired";
  return why;
}

Result<void> Repairer::make_segment_anew(CheckReport& report) {
  header().phase.store(Phase::poisoned, std::memory_order_release);
  FQ_TRY(link_.attach_anew());
  for (std::string& notice : link_.attachment().take_notices()) report.repairs.add(std::move(notice));
  report.repairs.add("segment: made anew from the journal");
  return {};
}

/// One step against what was found. False: the rest is a person's to look at.
Result<bool> Repairer::repair_once(const Checked& found, CheckReport& report) {
  uint32_t oldest = 0;
  uint32_t current = 0;
  FQ_TRY(locked([&]() -> Result<void> {
    oldest = header().oldest_file;
    current = header().current_file;
    return {};
  }));
  uint32_t last = 0;  // damaged, and in use
  for (const JournalDamage& damage : found.damage) {
    if (damage.file_number <= current) last = std::max(last, std::max(damage.file_number, oldest));
  }
  // A whole segment knows what a journal has lost that was cut or is gone, which shows as no damage.
  if (last == 0 && found.differs()) last = current;
  if (found.segment_is_whole && last != 0) {
    FQ_TRY(set_damage_aside(found, last, report));
  } else if (!found.segment_is_whole || !found.damage.empty()) {
    FQ_TRY(make_segment_anew(report));
  } else if (!found.lost_blobs.empty()) {
    FQ_TRY(blobs_.set_aside(found, report));
  } else {
    return false;
  }
  return true;
}

/// Whether payloads of no message may be what is left of messages whose records were lost: also for who comes
/// after a repair that ended early.
Result<void> Repairer::keep_orphans(bool keep) {
  return locked([&]() -> Result<void> {
    Txn txn = store().begin();
    txn.set(header().loose_blobs.of_damage, keep ? 1 : 0);
    txn.commit();
    return {};
  });
}

/// Payloads of no message: removed, or put aside where they are to be kept.
Result<void> Repairer::clear_orphans(CheckReport& report) {
  const bool keep = header().loose_blobs.of_damage.peek() != 0;
  FQ_TRY_SET(const BlobCare::Orphans orphans,
             blobs_.find_orphans(keep ? BlobCare::OrphanFate::kept : BlobCare::OrphanFate::removed));
  if (keep && orphans.known) FQ_TRY(keep_orphans(false));
  if (orphans.count == 0) return {};
  report.repairs.add(counted(orphans.count, "payload") + " of no message " +
                     (keep ? "kept in damaged/" : "removed"));
  return {};
}

/// What somebody took away and fq makes.
Result<void> Repairer::make_directories(CheckReport& report) {
  Disk& disk = this->disk();
  for (const char* name : kQueueDirectories) {
    const Result<std::vector<std::string>> there = disk.list(name);
    if (there.ok() || there.error().sys != ENOENT) continue;
    FQ_TRY(disk.make_directory(name));
    FQ_TRY(disk.sync_directory(""));
    report.repairs.add(std::string(name) + "/: is missing; made anew");
  }
  return {};
}

/// Into `done` what was repaired, also where it then fails.
Result<Checked> Repairer::repair(CheckReport& done) {
  FQ_TRY(make_directories(done));
  FQ_TRY(files_.mend(done));
  FQ_TRY_SET(Checked found, checker_.check_all(interrupt_));
  for (int round = 0; round < kRounds && !found.is_well(); ++round) {
    // Records are lost, and with them the names of their payloads: known before, to who comes after a death in
    // between. A segment with faults is not written to, and the one that replaces it is made with that.
    const bool lost = !found.damage.empty() || found.has_unreadable;
    if (lost && found.segment_is_whole) FQ_TRY(keep_orphans(true));
    FQ_TRY_SET(const bool changed, repair_once(found, done));
    FQ_POINT("repair.stepped");
    if (!changed) break;
    FQ_TRY_SET(found, checker_.check_all(interrupt_));
  }
  if (found.differs()) FQ_TRY(keep_orphans(true));
  FQ_TRY(clear_orphans(done));
  return found;
}

Result<Checked> Repairer::look() {
  FQ_TRY_SET(Checked found, checker_.check_all(interrupt_));
  FQ_TRY_SET(const BlobCare::Orphans orphans, blobs_.find_orphans(BlobCare::OrphanFate::told));
  if (orphans.count != 0) {
    found.report.remarks.add("blobs/: " + counted(orphans.count, "payload") + " of no message, " +
                             format_size(orphans.bytes) +
                             "; harmless, removed by fq check --repair and fq compact");
  }
  return found;
}

Result<CheckReport> Repairer::check(const CheckRequest& request) {
  CheckReport done;
  interrupt_ = request.interrupt;
  Result<Checked> checked = request.repair ? repair(done) : look();
  if (!checked.ok()) {
    for (std::string& each : notices_of(done.repairs)) notice(std::move(each));
    return std::move(checked).error();
  }
  CheckReport& report = checked->report;
  report.findings.append("segment and journal differ: ", checked->differences);
  report.repairs = std::move(done.repairs);
  report.messages_cancelled = done.messages_cancelled;
  return std::move(report);
}

}  // namespace fq
