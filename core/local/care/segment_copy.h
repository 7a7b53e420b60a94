// segment_copy - the segment as it was at one moment, copied under short holds of the state lock.
//
// Piece after piece is copied, while transactions mark the blocks that they change (changed_blocks.h). Then
// the marked blocks are copied again, until under one hold nothing is marked any more: that is the moment.
// The header and the ring, which have one size however large the queue is, are copied then.
#pragma once

// fq, this room.
#include "core/local/write/link.h"

namespace fq {

class SegmentCopy : private Linked {
 public:
  SegmentCopy(Link& link, Store& copy) : Linked(link), copy_(copy) {}
  /// When that was. Needs: the checking lock.
  Result<Now> make();

 private:
  enum class Step { more, memory, lost, done };
  Result<Step> make_once();
  Result<bool> begin();
  Step copy_some();
  bool copy_changed(uint64_t bytes);
  void copy_bytes(uint64_t from, uint64_t bytes);
  void populate(uint64_t bytes);

  Store& copy_;
  Now now_;
  uint64_t generation_ = 0;
  uint64_t next_ = 0;       // bytes before it were copied once
  uint64_t populated_ = 0;  // can be read and written without a page fault
};

}  // namespace fq
