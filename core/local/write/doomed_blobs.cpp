#include "core/local/write/doomed_blobs.h"

// fq, this room.
#include "core/local/shared/loose_blobs.h"

namespace fq {

void note_blobs_done(Link& link, uint64_t bytes) {
  if (bytes == 0) return;
  // Where that cannot be, blobs/ is looked through a little sooner.
  static_cast<void>(link.locked([&]() -> Result<void> {
    Txn txn = link.store().begin();
    LooseBlobs(link.header()).drop(txn, bytes);
    txn.commit();
    return {};
  }));
}

/// Hardly ever asked under the lock: most of the time nobody holds the other one.
bool DoomedBlobs::stay() {
  if (header().checking.holder() == 0) return false;
  bool stay = false;
  const Result<void> asked = locked([&]() -> Result<void> {
    stay = LooseBlobs(header()).stay();
    return {};
  });
  return asked.ok() && stay;
}

void DoomedBlobs::find(std::span<const ItemPlace> places) {
  if (places.empty()) return;
  StoredItem stored;
  for (const ItemPlace& place : places) {
    const Result<bool> found = reader().read(place, stored);
    // One that cannot be read now stays loose: a later look at blobs/ takes it away.
    if (found.ok() && *found && stored.item.blob) add({*stored.item.blob, stored.item.payload_bytes});
  }
}

void DoomedBlobs::remove() {
  if (blobs_.empty() || stay()) return;
  uint64_t bytes = 0;
  for (const LooseBlob& blob : blobs_) {
    remove_blob(disk(), blob.name);
    bytes += blob.bytes;
  }
  blobs_.clear();
  note_blobs_done(link_, bytes);
}

}  // namespace fq
