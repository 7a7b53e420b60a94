// housekeeper - journal files given back, so that the journal is no larger than its live data allows.
//
// journal_size.h says which size is too large. A file whose messages have all ended is dropped: LOW is made
// durable, then the file is recycled or removed; keys and settings that it alone tells are carried forward
// first, and so are the few live messages that pin a file (compactor.h). Files that were made for a larger
// queue make place for smaller ones. Payloads beside the journal that dead processes left go too
// (loose_blobs.h).
//
// Records written and messages ended set it going, not the caller: a process that ends messages looks whether
// something is due, and one that needs another journal file, for a push too, does the work that is due before
// one is made. The compaction lock is held while files change, not while the disk is waited for.
#pragma once

// fq, this room.
#include "core/local/care/blob_care.h"
#include "core/local/care/compactor.h"
#include "core/local/care/dead_files.h"
#include "core/local/care/file_maker.h"
#include "core/local/care/key_carrier.h"
#include "core/local/policy/run_time_policy.h"
#include "core/local/schedules/schedule_book.h"
#include "core/local/schedules/schedule_runner.h"
#include "core/local/steps/step_book.h"

namespace fq {

class Housekeeper final : public Upkeep, private Linked {
 public:
  struct Needs {
    Writer& writer;
    RunTimePolicy& run_time_policy;
    Compactor& compactor;
    BlobCare& blobs;
    ScheduleBook& schedules;
    ScheduleRunner& schedule_runner;
    StepBook& steps;
  };
  Housekeeper(Link& link, const Needs& needs)
      : Linked(link),
        writer_(needs.writer),
        run_time_policy_(needs.run_time_policy),
        compactor_(needs.compactor),
        blobs_(needs.blobs),
        schedules_(needs.schedules),
        schedule_runner_(needs.schedule_runner),
        steps_(needs.steps),
        keys_(link, needs.writer),
        dead_files_(link, needs.writer),
        file_maker_(link) {}

  Result<bool> keep_house() override;
  Result<bool> make_due() override { return schedule_runner_.run_due(); }
  Result<void> make_ready_file() override;

  // housekeeper_compact.cpp
  enum class Given { gone, kept };
  Result<CompactReport> compact();
  /// `gives_up_lost`: a message that cannot be read keeps no file where it is.
  Result<Given> drop_oldest_file(CompactReport& report, bool gives_up_lost);

 private:
  Result<bool> do_housework(Housework work);
  Result<std::optional<Compactor::InOldest>> carry_all();
  template <class Some>
  Result<void> carry_pinned(Pin SegmentHeader::*what, Some&& some);
  Result<bool> shrink();
  // housekeeper_compact.cpp
  Result<void> drop_unneeded_files(CompactReport& report);
  Result<void> leave_current_file();
  Result<void> copy_all_of_oldest(CompactReport& report, bool gives_up_lost);
  bool compaction_gains(uint32_t last);

  Writer& writer_;
  RunTimePolicy& run_time_policy_;
  Compactor& compactor_;
  BlobCare& blobs_;
  ScheduleBook& schedules_;
  ScheduleRunner& schedule_runner_;
  StepBook& steps_;
  KeyCarrier keys_;
  DeadFiles dead_files_;
  FileMaker file_maker_;
  bool keeping_ = false;  // house: files that housework itself needs are made without more housework
};

}  // namespace fq
