// rescue - the end of a segment: what it alone holds goes to the journal before another one is made from
// that.
//
// Records that are whole are written to the files that they belong to, or to another one where those failed.
// What cannot be written is told: nobody who waits for it is answered.
#pragma once

// fq, this room.
#include "core/local/recover/grip.h"

namespace fq {

/// Owns the knowledge of what could not be written, until it is told.
class Rescue : private Gripping {
 public:
  explicit Rescue(Grip& grip) : Gripping(grip) {}

  /// Of the segment that is held: all who are attached leave it for another one.
  Result<void> retire();
  /// After a replay that found the stream to end there.
  void tell_unsaved(uint64_t tail);

 private:
  void salvage_once_more(Store& old);
  Result<void> rescue_ring(Store& old);

  uint64_t unsaved_end_ = 0;  // of the old segment's stream, where not all of it could be written
};

}  // namespace fq
