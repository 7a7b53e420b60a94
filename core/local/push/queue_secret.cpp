#include "core/local/push/queue_secret.h"

// fq, below us.
#include "core/base/fault_point.h"
// fq, this room.
#include "core/local/files/key_secret.h"
#include "core/local/files/process_info.h"
#include "core/local/shared/segment_lock.h"

namespace fq {

Result<void> QueueSecret::ensure() {
  for (int attempt = 0; header().key_secret[0].peek() == 0; ++attempt) {
    Result<void> made = find();
    if (made.ok() || gate().trouble() == SegmentTrouble::none || attempt == kSegmentTries) return made;
    FQ_TRY(link_.attach_anew());
  }
  return {};
}

Result<void> QueueSecret::find() {
  SegmentHeader& shared = header();
  // One at a time, or two of them would hash with two secrets.
  const std::optional<SegmentLock> held = SegmentLock::take(shared, shared.compaction);
  if (!held) return held_by(object() + ": its secret is being made", shared.compaction.holder());
  FQ_TRY_SET(KeySecret secret, take_secret(disk()));
  if (!secret.is_there()) {
    secret = draw_secret();
    FQ_TRY(write_secret(disk(), secret));
  }
  FQ_POINT("secret.made");
  return gate().locked([&]() -> Result<void> {
    Txn txn = store().begin();
    for (size_t i = 0; i < 2; ++i) txn.set(shared.key_secret[i], secret.half[i]);
    txn.commit();
    return {};
  });
}

}  // namespace fq
