// repairer - the repair: sets aside the damage that check has found.
//
// Nothing is mended in place. Damaged bytes of the journal are copied to damaged/ first; then the live
// messages of the damaged files, and of those before them, are copied forward from the segment, which knows
// also what the lost records said, and the files are given back as compaction gives them back: a death on the
// way leaves no more than a death in any compaction. A message whose own record cannot be read is cancelled,
// since nothing of it is left to deliver. Only a segment that is damaged itself is made anew from the
// journal.
#pragma once

// fq, this room.
#include "core/local/care/queue_checker.h"
#include "core/local/care/housekeeper.h"

namespace fq {

class Repairer : private Linked {
 public:
  struct Needs {
    Mutator& mutator;
    Compactor& compactor;
    Housekeeper& housekeeper;
    BlobCare& blobs;
  };
  Repairer(Link& link, const Needs& needs)
      : Linked(link),
        mutator_(needs.mutator),
        compactor_(needs.compactor),
        housekeeper_(needs.housekeeper),
        blobs_(needs.blobs),
        files_(link),
        checker_(link, needs.blobs, files_) {}

  Result<CheckReport> check(const CheckRequest& request);

 private:
  Result<void> keep_out_of_use(uint32_t file);
  Result<void> drop_damaged_files(const Checked& found, uint32_t last, CheckReport& report,
                                  CompactReport& compacted, std::vector<std::string>& made);
  Result<void> set_damage_aside(const Checked& found, uint32_t last, CheckReport& report);
  Result<bool> cancel_one(const Compactor::InOldest& lost, CheckReport& report);
  Result<void> cancel_unreadable(CheckReport& report);
  Result<void> make_segment_anew(CheckReport& report);
  Result<bool> repair_once(const Checked& found, CheckReport& report);
  Result<void> keep_orphans(bool keep);
  Result<void> clear_orphans(CheckReport& report);
  Result<void> make_directories(CheckReport& report);
  Result<Checked> repair(CheckReport& done);
  Result<Checked> look();

  Mutator& mutator_;
  Compactor& compactor_;
  Housekeeper& housekeeper_;
  BlobCare& blobs_;
  JournalFiles files_;
  QueueChecker checker_;
  Interrupt* interrupt_ = nullptr;
};

}  // namespace fq
