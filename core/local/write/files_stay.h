// files_stay - keeps for its life the files of the journal and the payloads of messages that end, for a
// process that reads them.
//
// As far as there is room (JournalSize::stays_for_check, LooseBlobs::stay); no other process waits for
// anything.
#pragma once

// System.
#include <utility>
// fq, this room.
#include "core/local/shared/segment_lock.h"
#include "core/local/write/link.h"

namespace fq {

class FilesStay {
 public:
  /// One holds them at a time. ErrorKind::later: another does, for longer than a lock is waited for.
  static Result<FilesStay> hold(Link& link);

 private:
  explicit FilesStay(SegmentLock held) : held_(std::move(held)) {}

  SegmentLock held_;
};

}  // namespace fq
