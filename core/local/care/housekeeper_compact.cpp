// housekeeper_compact - compaction because somebody asked for it: the whole journal, as far as that gains
// something.
//
// The same steps as those that consumers take (core/local/care/compactor.h), one file after the other, the
// oldest first. Others may do the same at the same time, and work goes on meanwhile.
#include "core/local/care/housekeeper.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/fault_point.h"

namespace fq {

namespace {

constexpr int kTries = 100;  // against others who are at the same, or whose records come in between
constexpr uint64_t kNotWorthBytes = 256 * 1024;  // chosen: half of the smallest file
constexpr uint64_t kLowBytes = 4096;             // above what LOW and what goes with it take

}  // namespace

/// Whether what is needed takes clearly less than what there is. Needs: the lock.
bool Housekeeper::compaction_gains(uint32_t last) {
  const SegmentHeader& shared = header();
  if (shared.oldest_file > last) return false;
  const JournalSize size(header());
  if (size.dead_files() > 0) return true;
  const uint64_t in_use = shared.tail - stream().table().slot(shared.oldest_file).start;
  const uint64_t needed = size.live_bytes();
  return in_use > needed + needed / 4 + kNotWorthBytes;
}

/// What comes goes to another file from now on, so that the one that was written until now can go too. Not
/// where the room that it has is needed: then another file is made first.
Result<void> Housekeeper::leave_current_file() {
  for (int attempt = 0; attempt < kTries; ++attempt) {
    bool left = false;
    FQ_TRY(locked([&]() -> Result<void> {
      JournalTable& table = stream().table();
      if (!table.has_ready() || !JournalSize(header()).can_spare(table.current_room())) return {};
      Txn txn = store().begin();
      table.open_next(txn);
      txn.commit();
      FQ_POINT("compaction.left");
      left = true;
      return {};
    }));
    if (left) return {};
    FQ_TRY(make_ready_file());
  }
  return refuse_full();
}

/// Until nothing that can be read lives there any more.
Result<void> Housekeeper::copy_all_of_oldest(CompactReport& report, bool gives_up_lost) {
  std::vector<Compactor::InOldest> found;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    bool again = false;
    uint64_t unreadable = 0;
    bool at_end = false;
    while (!at_end) {
      FQ_TRY_SET(at_end, compactor_.find_in_oldest(found));
      for (const Compactor::InOldest& each : found) {
        FQ_TRY_SET(Compactor::Copied copied, compactor_.copy_message(each.id, each.item_position));
        if (copied == Compactor::Copied::unreadable && gives_up_lost) {
          FQ_TRY_SET(copied, compactor_.give_up(each.id, each.item_position));
        }
        again = again || copied == Compactor::Copied::moved || copied == Compactor::Copied::again;
        if (copied == Compactor::Copied::moved) ++report.messages_moved;
        if (copied == Compactor::Copied::unreadable) ++unreadable;
      }
    }
    report.messages_unreadable = unreadable;
    if (!again) break;
  }
  return link_.wait_all_durable();
}

Result<Housekeeper::Given> Housekeeper::drop_oldest_file(CompactReport& report, bool gives_up_lost) {
  uint32_t number = 0;
  bool current = false;
  FQ_TRY(locked([&]() -> Result<void> {
    number = header().oldest_file;
    current = number == header().current_file;
    return {};
  }));
  if (current) FQ_TRY(leave_current_file());
  for (int attempt = 0; attempt < kTries; ++attempt) {
    FQ_TRY(copy_all_of_oldest(report, gives_up_lost));
    if (report.messages_unreadable != 0) return Given::kept;
    FQ_TRY_SET(const std::optional<Compactor::InOldest> held, carry_all());
    if (held) {
      report.messages_unreadable = 1;
      notice(message_object(fq::number(held->id)) +
             ": is leased and its record cannot be read; until it ends it keeps journal files");
      return Given::kept;
    }
    FQ_TRY(dead_files_.drop());
    Obstacle obstacle = Obstacle::none;
    bool gone = false;
    FQ_TRY(locked([&]() -> Result<void> {
      gone = header().oldest_file > number;
      obstacle = writer_.room_for(Purpose::care, kLowBytes);
      return {};
    }));
    if (gone) {
      ++report.files_gone;
      return Given::gone;
    }
    if (obstacle != Obstacle::none) FQ_TRY(writer_.overcome(obstacle));
  }
  return Error{ErrorKind::later, object() + ": its journal files are held by another process", 0};
}

/// All files up to the one that is written now, as far as that gains something.
Result<void> Housekeeper::drop_unneeded_files(CompactReport& report) {
  uint32_t last = 0;
  FQ_TRY(locked([&]() -> Result<void> {
    last = header().current_file;
    return {};
  }));
  for (;;) {
    bool gains = false;
    FQ_TRY(locked([&]() -> Result<void> { return gains = compaction_gains(last), Result<void>(); }));
    if (!gains) return {};
    FQ_TRY_SET(const Given given, drop_oldest_file(report, true));
    if (given == Given::kept) return {};
  }
}

Result<CompactReport> Housekeeper::compact() {
  CompactReport report;
  FQ_TRY(link_.wait_all_durable());
  FQ_TRY(locked([&]() -> Result<void> {
    report.bytes_before = stream().table().journal_bytes();
    return {};
  }));
  FQ_TRY(drop_unneeded_files(report));
  FQ_TRY(keep_house());
  // Where a record cannot be read nobody knows whose they are.
  if (report.messages_unreadable == 0) {
    FQ_TRY_SET(report.payloads_gone, blobs_.remove_orphans());
  }
  FQ_TRY(locked([&]() -> Result<void> {
    report.bytes_after = stream().table().journal_bytes();
    return {};
  }));
  return report;
}

}  // namespace fq
