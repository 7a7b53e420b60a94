// new_segment - a new segment: the contents of an empty one, and how it grows while no other process has it.

// fq, this room.
#include "core/local/recover/replay.h"

namespace fq {

Result<void> grow_alone(Store& store, const Need& need) {
  SegmentHeader& header = store.header();
  while (const std::optional<ArrayName> array = store.schedule().growth().array_for(need)) {
    const uint32_t bytes = store.schedule().growth().bytes_of(*array);
    if (bytes == 0) return Error{ErrorKind::later, "segment: it has reached its largest size", 0};
    FQ_TRY(store.memory().extend_to(header.segment_bytes + bytes));
    Txn txn = store.begin();
    store.schedule().growth().grow(txn, *array, static_cast<uint32_t>(header.segment_bytes / kPageBytes));
    txn.set(header.segment_bytes, header.segment_bytes + bytes);
    txn.commit();
  }
  return {};
}

Result<void> initialise_segment(Store& store) {
  FQ_TRY(store.memory().extend_to(kFirstChunkOffset));
  SegmentHeader& header = store.header();
  if (!header.policy_lock.initialise() || !header.compaction.initialise() || !header.flush.initialise() ||
      !header.state.initialise() || !header.checking.initialise()) {
    return Error{ErrorKind::unusable, "segment: this system makes no robust locks", 0};
  }
  for (HolderSlot& holder : header.holders) {
    if (!holder.life.initialise())
      return Error{ErrorKind::unusable, "segment: this system makes no robust locks", 0};
  }
  {
    Txn txn = store.begin();
    txn.set(header.segment_bytes, kFirstChunkOffset);
    txn.set(header.next_seq, 1);
    txn.set(header.next_id, 1);
    txn.set(header.next_serial, 1);
    txn.set(header.free_holder, kNoIndex);
    for (Shared<uint64_t>& half : header.schedule.hash_key) {
      uint64_t random = 0;
      fill_random(&random, sizeof random);
      txn.set(half, random);
    }
    txn.commit();
  }
  // The first chunk of each array: initialise() needs them.
  for (const ArrayName array : kFirstArrays) {
    const uint32_t bytes = store.schedule().growth().bytes_of(array);
    FQ_TRY(store.memory().extend_to(header.segment_bytes + bytes));
    Txn txn = store.begin();
    store.schedule().growth().grow(txn, array, static_cast<uint32_t>(header.segment_bytes / kPageBytes));
    txn.set(header.segment_bytes, header.segment_bytes + bytes);
    txn.commit();
  }
  Txn txn = store.begin();
  store.schedule().growth().initialise(txn);
  txn.commit();
  return {};
}

}  // namespace fq
