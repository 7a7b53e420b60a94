// local_repair - what check has found, set aside.
//
// Nothing is mended in place. Damaged bytes of the journal are copied to damaged/ first; then what lives in
// the damaged files, and in those before them, is copied forward from the segment, which knows also what the
// lost records said, and the files are given back as compaction gives them back: a death on the way leaves
// what any compaction leaves. A message whose own record cannot be read is cancelled, since nothing of it is
// left to deliver. Only a segment that is damaged itself is made anew from the journal.
#include "core/spool/local_checked.h"

// System.
#include <algorithm>

namespace fq {

namespace {

constexpr int kRounds = 4;  // damage of one kind may hide another
constexpr size_t kLinesMax = 100;

}  // namespace

/// Those in the oldest file that no copy can be made of.
Result<void> LocalQueue::cancel_unreadable(CheckReport& report) {
  std::vector<ItemPlace> blobs;
  std::vector<InOldest> found;
  for (bool at_end = false; !at_end;) {
    FQ_TRY_SET(at_end, find_in_oldest(found));
    for (const InOldest& each : found) {
      FQ_TRY_SET(const Copied copied, copy_message(each.id, each.item_position));
      if (copied != Copied::unreadable) continue;
      FQ_TRY_SET(const SettleStatus status,
                 change_one(each.id, Action::cancel, nullptr, blobs, each.item_position));
      if (status != SettleStatus::ok || report.repairs.size() >= kLinesMax) continue;
      report.repairs.push_back("message " + std::to_string(number(each.id)) +
                               ": its record is damaged; cancelled");
    }
  }
  return finish_changes(blobs);
}

/// Everything up to and with file `last` is given back, what can be read of it being kept.
Result<void> LocalQueue::set_damage_aside(const Checked& found, uint32_t last, CheckReport& report) {
  for (const JournalDamage& damage : found.damage) {
    FQ_TRY(keep_damage(attachment_->disk(), damage));
    std::string line = journal_file_name(damage.file_number) + ": " + damage.what + " at byte " +
                       std::to_string(damage.offset);
    if (damage.records_lost != 0) line += ", " + std::to_string(damage.records_lost) + " records lost";
    if (damage.bytes != 0) line += "; " + std::to_string(damage.bytes) + " bytes kept in damaged/";
    if (report.repairs.size() < kLinesMax) report.repairs.push_back(std::move(line));
  }
  CompactReport compacted;
  for (int kept = 0; kept < kRounds;) {
    uint32_t oldest = 0;
    FQ_TRY(locked([&]() -> Result<void> { return oldest = header().oldest_file, Result<void>(); }));
    if (oldest > last) break;
    FQ_TRY_SET(const Given given, give_back_oldest(compacted));
    if (given == Given::gone) continue;
    ++kept;
    FQ_TRY(cancel_unreadable(report));
  }
  report.repairs.push_back(std::to_string(compacted.messages_moved) + " messages copied to sound files");
  return {};
}

Result<void> LocalQueue::make_segment_anew(CheckReport& report) {
  header().phase.store(Phase::poisoned, std::memory_order_release);
  FQ_TRY(attach_anew());
  for (std::string& notice : attachment_->take_notices()) report.repairs.push_back(std::move(notice));
  report.repairs.push_back("segment: made anew from the journal");
  return {};
}

Result<CheckReport> LocalQueue::check(bool repair) {
  FQ_TRY_SET(Checked found, check_settled());
  CheckReport done;
  for (int round = 0; repair && round < kRounds && !found.report.findings.empty(); ++round) {
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
    if (last == 0 && found.differs) last = current;
    if (found.segment_is_whole && last != 0) {
      FQ_TRY(set_damage_aside(found, last, done));
    } else if (!found.segment_is_whole || !found.damage.empty()) {
      FQ_TRY(make_segment_anew(done));
    } else {
      break;  // the rest is a person's to look at
    }
    FQ_TRY_SET(found, check_settled());
  }
  found.report.repairs = std::move(done.repairs);
  return std::move(found.report);
}

}  // namespace fq
