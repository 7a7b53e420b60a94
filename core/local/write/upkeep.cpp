#include "core/local/write/upkeep.h"

// fq, this room.
#include "core/local/shared/journal_size.h"
#include "core/local/shared/loose_blobs.h"

namespace fq {

Housework due_housework(SegmentHeader& header) {
  if (LooseBlobs(header).is_due()) return Housework::orphans;
  const JournalSize size(header);
  if (size.is_in_order() || size.stays_for_check()) return Housework::none;
  const uint32_t oldest = header.oldest_file;
  const bool dead = size.dead_files() > 0;
  if (dead && !size.is_pinned(oldest)) return Housework::drop;
  if (size.is_sparse()) {
    // What pins a file is as large however many files it pins: it is carried where that pays.
    if (dead) return Housework::carry;
    // All in it has ended, but its end is not on disk yet.
    if (JournalTable(header).slot(oldest).live == 0) return Housework::sync;
    return Housework::copy;
  }
  return size.is_oversized() ? Housework::shrink : Housework::none;
}

}  // namespace fq
