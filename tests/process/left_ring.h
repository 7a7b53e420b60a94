// left_ring - looks into a live segment: whether lazy bytes lie in their file only, as far as the kernel
// knows.
//
// That takes a full ring and one file with room for it, which the sizes of a test decide. Who relies on it
// checks it.
#pragma once

// System.
#include <cstddef>
#include <cstring>
// fq, below us.
#include "core/spool/layout.h"
// Tests.
#include "tests/process/real_fq.h"

namespace fq::test {

/// Whether bytes that no sync has proved lie in no ring any more.
inline bool unsynced_left_ring(const std::string& spool) {
  const std::string segment = read_whole(spool + "/queues/default/segment").substr(0, sizeof(SegmentHeader));
  uint64_t durable_end = 0, ring_start = 0;
  std::memcpy(&durable_end, segment.data() + offsetof(SegmentHeader, durable_end), sizeof durable_end);
  std::memcpy(&ring_start, segment.data() + offsetof(SegmentHeader, ring_start), sizeof ring_start);
  return durable_end < ring_start;
}

/// Whether such bytes are all that the journal's newest file with records holds: a failed sync leaves nothing
/// in it that counts.
inline bool unsynced_fill_a_file(const std::string& spool) {
  const std::string segment = read_whole(spool + "/queues/default/segment").substr(0, sizeof(SegmentHeader));
  const auto number_at = [&]<class Number>(size_t offset, Number number) {
    std::memcpy(&number, segment.data() + offset, sizeof number);
    return number;
  };
  const auto current = number_at(offsetof(SegmentHeader, current_file), uint32_t{});
  const size_t slot = offsetof(SegmentHeader, files) + current % kJournalFilesMax * sizeof(JournalSlot);
  return unsynced_left_ring(spool) && number_at(slot + offsetof(JournalSlot, start), uint64_t{}) ==
                                          number_at(offsetof(SegmentHeader, durable_end), uint64_t{});
}

}  // namespace fq::test
