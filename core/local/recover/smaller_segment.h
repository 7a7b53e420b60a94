// smaller_segment - a segment that is too large for its live data, replaced by one that is made from the
// journal.
//
// Under the exclusive lock, so no process is attached, and only where the queue is at rest: all is on disk,
// nothing is leased, and no rate has tokens to come. The journal is read and never written, and the old
// segment stays whole and the queue's own until the new one is renamed over it: a process that dies on the
// way leaves a queue as it was, and a file that the next one to make a segment removes. The generation
// stays, so it need not be raised for a file that may never come. What the journal does not tell (how the
// last messages ended, counts, times) is carried over.
#pragma once

// fq, this room.
#include "core/local/recover/new_segment.h"
#include "core/local/recover/replay.h"

namespace fq {

class SmallerSegment : private Gripping {
 public:
  explicit SmallerSegment(Grip& grip) : Gripping(grip) {}

  /// Puts a smaller segment in the place of one that is too large, where that can be done at once: no other
  /// process is attached, and the disk has room for it. True: the queue was let go for that, attach anew.
  bool make();
  /// It is not tried twice: a segment that cannot be smaller stays.
  bool was_tried() const { return was_tried_; }

 private:
  Result<void> replace();
  Result<bool> is_at_rest();
  Result<std::unique_ptr<Store>> build(const LockIdentity& identity);
  bool is_same_queue(const Store& store, const Replayed& replayed) const;
  void carry_files(Store& store) const;

  bool was_tried_ = false;
};

}  // namespace fq
