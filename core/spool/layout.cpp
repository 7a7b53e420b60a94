#include "core/spool/layout.h"

// System.
#include <gnu/libc-version.h>

#include <array>
// fq, below us.
#include "core/base/crc32c.h"

namespace fq {

uint64_t layout_hash() {
  // Sizes and offsets of everything that processes share; a changed meaning without a changed size needs
  // the revision raised.
  constexpr uint64_t kRevision = 2;
  constexpr std::array<uint64_t, 24> shape = {
      kRevision,
      sizeof(SegmentHeader),
      sizeof(UndoLog),
      sizeof(JournalSlot),
      sizeof(HolderSlot),
      sizeof(SharedSettings),
      sizeof(ScheduleRoot),
      sizeof(Entry),
      sizeof(Tenant),
      sizeof(Outcome),
      sizeof(TextCell),
      sizeof(pthread_mutex_t),
      offsetof(SegmentHeader, phase),
      offsetof(SegmentHeader, compaction),
      offsetof(SegmentHeader, state),
      offsetof(SegmentHeader, undo),
      offsetof(SegmentHeader, tail),
      offsetof(SegmentHeader, settings),
      offsetof(SegmentHeader, files),
      offsetof(SegmentHeader, schedule),
      offsetof(SegmentHeader, holders),
      kRingBytes,
      kSmallChunkBytes,
      kLargeChunkBytes,
  };
  const Bytes shape_bytes = std::as_bytes(std::span(shape));
  // The C library is part of the layout: its mutexes lie in the segment.
  const Bytes library = as_bytes(gnu_get_libc_version());
  const uint64_t high = crc32c(crc32c(1, shape_bytes), library);
  return high << 32 | crc32c(2, shape_bytes);
}

void store_settings(Txn& txn, SharedSettings& shared, const Settings& settings) {
  txn.set(shared.order, static_cast<uint32_t>(settings.order));
  txn.set(shared.sync, static_cast<uint32_t>(settings.sync));
  txn.set(shared.lease_ms, settings.lease_ms);
  txn.set(shared.attempts_max, settings.attempts_max);
  txn.set(shared.payload_bytes_max, settings.payload_bytes_max);
  txn.set(shared.lock_timeout_ms, settings.lock_timeout_ms);
  txn.set(shared.timeout_ms, settings.timeout_ms);
  txn.set(shared.backoff_base_ms, settings.backoff_base_ms);
  txn.set(shared.backoff_max_ms, settings.backoff_max_ms);
  txn.set(shared.retention_ms, settings.retention_ms);
}

Settings settings_of(const SharedSettings& shared) {
  Settings settings;
  settings.order = static_cast<Order>(shared.order.get());
  settings.sync = static_cast<SyncMode>(shared.sync.get());
  settings.lease_ms = shared.lease_ms;
  settings.attempts_max = shared.attempts_max;
  settings.payload_bytes_max = shared.payload_bytes_max;
  settings.lock_timeout_ms = shared.lock_timeout_ms;
  settings.timeout_ms = shared.timeout_ms;
  settings.backoff_base_ms = shared.backoff_base_ms;
  settings.backoff_max_ms = shared.backoff_max_ms;
  settings.retention_ms = shared.retention_ms;
  return settings;
}

uint32_t identity_crc(const SegmentIdentity& identity) {
  return crc32c(0, std::as_bytes(std::span(&identity, 1)));
}

}  // namespace fq
