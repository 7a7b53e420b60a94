#include "core/local/recover/new_segment.h"

// System.
#include <cerrno>
#include <cstring>
// fq, this room.
#include "core/local/shared/policy_layers.h"

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

Result<void> remove_segment(Disk& disk, std::string_view name) {
  Result<void> removed = disk.remove(name);
  if (!removed.ok() && removed.error().sys == ENOENT) return {};
  return removed;
}

Result<std::unique_ptr<Store>> make_segment(const Grip& grip, const LockIdentity& identity) {
  FQ_TRY(remove_segment(grip.disk(), kNewSegment));
  FQ_TRY_SET(std::unique_ptr<File> file, grip.disk().open(kNewSegment, OpenMode::create_new));
  FQ_TRY_SET(std::unique_ptr<SegmentMemory> memory, map_segment(std::move(file), grip.object()));
  FQ_TRY(memory->extend_to(kFirstChunkOffset));
  auto store = std::make_unique<Store>(std::move(memory));
  store->set_private(true);
  FQ_TRY(initialise_segment(*store));
  SegmentHeader& header = store->header();
  SegmentIdentity& own = header.identity;
  std::memcpy(own.magic, kSegmentMagic, sizeof own.magic);
  own.layout_hash = layout_hash();
  std::memcpy(own.boot_id, grip.kernel().boot_id, sizeof own.boot_id);
  FQ_TRY_SET(own.pid_namespace, read_pid_namespace());
  own.first_process = numbers_processes() ? read_first_process() : 0;
  FQ_TRY_SET(own.time_namespace, read_time_namespace());
  own.lock_device = identity.device;
  own.lock_inode = identity.inode;
  std::memcpy(own.nonce, identity.nonce, sizeof own.nonce);
  own.generation = identity.generation;
  header.identity_crc = identity_crc(own);
  Txn txn = store->begin();
  store_settings(txn, header.policy.run_time, Settings{});
  store_file_layer(txn, header, Settings{});
  txn.commit();
  return store;
}

void take_over_numbers(Store& store, const Store* from, bool records_lost) {
  SegmentHeader& header = store.header();
  Txn txn = store.begin();
  const SegmentHeader* old = from == nullptr ? nullptr : &from->header();
  const bool goes_on = old != nullptr && old->next_id >= header.next_id && old->next_id <= old->id_limit &&
                       old->next_serial >= header.next_serial && old->next_serial <= old->serial_limit;
  if (goes_on) {
    txn.set(header.next_id, old->next_id);
    txn.set(header.next_serial, old->next_serial);
  } else {
    // Ids below the limit may have been given out by pushes that never reached the disk; where records are
    // lost, below the next limit too, if one is lost with them.
    const uint64_t ahead = records_lost ? kLimitStep : 0;
    txn.set(header.next_id, std::max<uint64_t>(header.next_id, header.id_limit) + ahead);
    txn.set(header.next_serial, std::max<uint64_t>(header.next_serial, header.serial_limit) + ahead);
  }
  txn.commit();
}

}  // namespace fq
