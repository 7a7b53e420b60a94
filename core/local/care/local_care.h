// local_care - check and repair: a look at everything of a queue, and what is done about what it finds.
//
// local_check.cpp holds the segment against the journal, local_blobs.cpp the payloads beside the journal
// against the messages that speak of them, local_journal_files.cpp the files of the journal against the
// table; local_repair.cpp sets aside what they found. local_lost.cpp gives up what compaction cannot copy.
#pragma once

// System.
#include <set>
// fq, this room.
#include "core/local/local_queue.h"

namespace fq {

class LocalQueue::Care {
 public:
  enum class OrphanFate { told, removed, kept };
  /// Blobs that belong to no message.
  struct Orphans {
    uint64_t count = 0;
    uint64_t bytes = 0;
    bool known = true;  // false: a message cannot be read, and may speak of any blob
  };

  explicit Care(LocalQueue& queue) : queue_(queue) {}
  Result<CheckReport> check(bool repair);
  Result<Orphans> find_orphans(OrphanFate fate);
  /// Removed, or where a recovery lost records put into damaged/; returns how many were removed.
  Result<uint64_t> remove_orphans();
  /// A message whose record, at that place, cannot be read: it keeps no file where it is. Buried first, if it
  /// is not dead (`again`). `unreadable`: somebody holds it, and may still end it.
  Result<Copied> give_up(MessageId id, uint64_t item_position);

 private:
  /// A message whose payload lies in a blob that is gone or damaged.
  struct LostBlob {
    MessageId id{};
    uint64_t item_position = 0;
    BlobName name;
    std::string what;  // "message 5 of queue 'mail': its payload blobs/...: is gone"
  };
  /// A journal file as the segment knows it.
  struct TableFile {
    FileKey key;
    uint64_t bytes = 0;
    uint64_t start = 0;  // of its records, in the stream; UINT64_MAX: it has none
    uint64_t end = 0;    // what is written from here on goes elsewhere; UINT64_MAX: it goes on
    uint32_t live = 0;   // messages whose record it holds
    bool current = false;
    bool spare = false;  // not in use yet
  };
  enum class HeaderState {
    whole,
    worn,     // one of its two copies, or what lies between
    lost,     // but what lies behind shows that the file is this one
    foreign,  // nothing shows that, or it was cut so short
    missing,  // with all of the file
  };
  struct Checked {
    CheckReport report;
    CountedLines differences;  // findings too, behind what may have caused them
    bool segment_is_whole = true;
    std::vector<JournalDamage> damage;
    std::vector<LostBlob> lost_blobs;
    bool has_unreadable = false;  // a message whose record cannot be read, and which had a blob

    bool differs() const { return !differences.empty(); }
    bool is_well() const { return report.findings.empty() && differences.empty(); }
  };

  // local_check.cpp
  static void forget_behind(uint64_t tail, const ScanResult& scan, std::vector<JournalDamage>& damage);
  static void find_early_end(std::span<const TableFile> files, const SegmentHeader& copied,
                             const ScanResult& scan, std::vector<JournalDamage>& damage);
  Result<void> find_unread(std::span<const TableFile> files, uint64_t tail, const ScanResult& scan,
                           std::vector<JournalDamage>& damage);
  Result<Now> copy_segment(Store& copy);
  Result<Checked> check_once();
  Result<Checked> check_settled();
  Result<Checked> check_all();
  // local_blobs.cpp
  Result<bool> find_blob_users(std::vector<TakenMessage>& found, uint32_t& next_slot);
  Result<std::optional<uint64_t>> item_position_of(uint64_t id);
  Result<void> check_blob(TakenMessage& user, Checked& checked);
  Result<void> check_blobs(Checked& checked);
  Result<std::optional<std::set<std::string>>> named_blobs();
  static Result<bool> deal_with(Disk& disk, const std::string& path, OrphanFate fate);
  Result<void> sort_out(std::span<const std::string> paths, OrphanFate fate, Orphans& orphans);
  Result<void> set_blobs_aside(const Checked& found, CheckReport& report);
  // local_lost.cpp
  Result<void> bury_lost(MessageId id, uint64_t item_position, const std::string& what);
  // local_journal_files.cpp
  Result<std::vector<TableFile>> table_files();
  Result<HeaderState> look_at_header(const TableFile& file);
  Result<void> find_worn_headers(CheckReport& report);
  Result<void> mend_file(const TableFile& file, CheckReport& report);
  Result<void> leave_useless_file(const TableFile& file, CheckReport& report);
  Result<void> mend_files(CheckReport& report);
  // local_repair.cpp
  Result<void> give_back_damaged(const Checked& found, uint32_t last, CheckReport& report,
                                 CompactReport& compacted);
  Result<void> set_damage_aside(const Checked& found, uint32_t last, CheckReport& report);
  Result<void> cancel_unreadable(CheckReport& report);
  Result<void> make_segment_anew(CheckReport& report);
  Result<bool> repair_once(const Checked& found, CheckReport& report);
  Result<void> clear_orphans(bool keep, CheckReport& report);
  Result<void> make_directories(CheckReport& report);
  Result<Checked> repair(CheckReport& done);
  Result<Checked> look();

  // shorthands
  Store& store() { return queue_.store(); }
  SegmentHeader& header() { return queue_.header(); }
  Schedule& schedule() { return queue_.schedule(); }
  Gate& gate() { return queue_.gate(); }
  Stream& stream() { return queue_.stream(); }

  LocalQueue& queue_;
};

}  // namespace fq
