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
#include "core/local/shared/layout.h"
// Tests.
#include "tests/process/real_fq.h"

namespace fq::test {

/// The header of a live segment, read without its lock: for what no other changes meanwhile.
class LookedAt {
 public:
  explicit LookedAt(const std::string& spool) : bytes_(sizeof(SegmentHeader), '\0') {
    std::ifstream(spool + "/queues/default/segment", std::ios::binary)
        .read(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
  }
  template <class Number>
  Number at(size_t offset) const {
    Number number{};
    std::memcpy(&number, bytes_.data() + offset, sizeof number);
    return number;
  }
  uint64_t durable_end() const { return at<uint64_t>(offsetof(SegmentHeader, durable_end)); }
  uint64_t ring_start() const { return at<uint64_t>(offsetof(SegmentHeader, ring_start)); }
  /// Where the records of the file begin that is written now.
  uint64_t current_start() const {
    const auto current = at<uint32_t>(offsetof(SegmentHeader, current_file));
    const size_t slot = offsetof(SegmentHeader, files) + current % kJournalFilesMax * sizeof(JournalSlot);
    return at<uint64_t>(slot + offsetof(JournalSlot, start));
  }

 private:
  std::string bytes_;
};

inline uint64_t journal_tail(const std::string& spool) {
  return LookedAt(spool).at<uint64_t>(offsetof(SegmentHeader, tail));
}

/// Whether bytes that no sync has proved lie in no ring any more.
inline bool unsynced_left_ring(const std::string& spool) {
  const LookedAt header(spool);
  return header.durable_end() < header.ring_start();
}

/// Whether such bytes are all that the file holds that is written now: a failed sync leaves nothing in it that
/// counts.
inline bool unsynced_fill_a_file(const std::string& spool) {
  const LookedAt header(spool);
  return header.durable_end() < header.ring_start() && header.current_start() == header.durable_end();
}

}  // namespace fq::test
