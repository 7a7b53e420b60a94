#include "core/local/shared/layout.h"

// System.
#include <gnu/libc-version.h>

#include <array>
// fq, below us.
#include "core/base/crc32c.h"
#include "core/journal/codec.h"

namespace fq {

uint64_t layout_hash() {
  // Sizes and offsets of everything that processes share; a changed meaning without a changed size needs
  // the revision raised.
  constexpr uint64_t kRevision = 14;
  constexpr std::array<uint64_t, 28> shape = {
      kRevision,
      kJournalFormat,  // an fq that knows less of the journal is kept out while another is attached
      sizeof(SegmentHeader),
      sizeof(UndoLog),
      sizeof(JournalSlot),
      sizeof(HolderSlot),
      sizeof(SharedSettings),
      sizeof(ScheduleRoot),
      sizeof(Entry),
      sizeof(Tenant),
      sizeof(Control),
      sizeof(Pool),
      sizeof(Place),
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
      kLargeChunkElements,
  };
  const Bytes shape_bytes = std::as_bytes(std::span(shape));
  // The C library is part of the layout: its mutexes lie in the segment.
  const Bytes library = as_bytes(gnu_get_libc_version());
  const uint64_t high = crc32c(crc32c(1, shape_bytes), library);
  return high << 32 | crc32c(2, shape_bytes);
}

uint32_t identity_crc(const SegmentIdentity& identity) {
  return crc32c(0, std::as_bytes(std::span(&identity, 1)));
}

}  // namespace fq
