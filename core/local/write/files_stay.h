// files_stay - keeps the files of the journal and the payloads of messages that end, while a process reads
// them.
//
// As far as there is room (JournalSize::stays_for_check, LooseBlobs::stay); no other process waits for
// anything. Who had them stay gives back what is needed no more: perhaps nobody else calls the queue.
#pragma once

// fq, this room.
#include "core/local/shared/segment_lock.h"
#include "core/local/write/link.h"
#include "core/local/write/upkeep.h"

namespace fq {

/// One has them stay at a time. ErrorKind::later: another does, for longer than a lock is waited for.
Result<SegmentLock> hold_files(Link& link);

/// What `work` (some Result()) returns, for which they stay.
template <class Work>
auto with_files_held(Link& link, Upkeep& upkeep, Work&& work) -> decltype(work()) {
  auto result = [&]() -> decltype(work()) {
    FQ_TRY_SET([[maybe_unused]] const SegmentLock held, hold_files(link));
    return work();
  }();
  static_cast<void>(upkeep.keep_house());
  return result;
}

}  // namespace fq
