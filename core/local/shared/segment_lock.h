// segment_lock - one of the locks in the segment beside `state`, held for the life of this.
//
// What they guard takes its time, on a disk too, and its holder leaves nothing half done: a dead one is none
// of whoever comes next. How long a live one is waited for is the setting lock_timeout, for all of them.
#pragma once

// System.
#include <algorithm>
#include <memory>
#include <optional>
// fq, this room.
#include "core/local/shared/layout.h"

namespace fq {

class SegmentLock {
 public:
  /// `mutex`: of this segment. None: somebody else holds it, for longer than lock_timeout or `most_ms`.
  static std::optional<SegmentLock> take(SegmentHeader& header, RobustMutex& mutex,
                                         int64_t most_ms = INT64_MAX) {
    const int64_t wait_ms = std::min(header.settings.lock_timeout_ms.peek(), most_ms);
    if (!mutex.take_whole(wait_ms)) return std::nullopt;
    return SegmentLock(mutex);
  }

 private:
  struct Unlock {
    void operator()(RobustMutex* mutex) const { mutex->unlock(); }
  };
  explicit SegmentLock(RobustMutex& mutex) : held_(&mutex) {}

  std::unique_ptr<RobustMutex, Unlock> held_;
};

}  // namespace fq
