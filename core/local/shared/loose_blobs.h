// loose_blobs - the bytes in blobs/ that a process still has to see to.
//
// A payload is loose from before it is written until its record is appended, and from the record that ends
// its message (or gives it another payload) until it is removed. The process that has it in hand counts it
// here, and counts it out when done. A process that dies leaves its payloads in blobs/, and in the count:
// once that has grown enough since blobs/ was last looked through, housekeeping does it again
// (core/local/care/blob_care.h).
//
// While a queue is copied or checked, the payloads of messages that end stay, loose, for the process that
// reads a journal that speaks of them; until a look is due.
//
// So dead processes leave at most kLooseBytesMax, a quarter of the live payload bytes, and the bytes that
// others had in hand at the last look. A count that is wrong, since the segment was replaced meanwhile, costs
// that once: each look begins anew from the count that it finds.
#pragma once

// System.
#include <algorithm>
// fq, this room.
#include "core/local/shared/layout.h"

namespace fq {

inline constexpr uint64_t kLooseBytesMax = 2 * 1024 * 1024;  // of the 8 MiB that an empty queue may keep

/// A view over the header. Needs: the state lock.
class LooseBlobs {
 public:
  explicit LooseBlobs(SegmentHeader& header)
      : header_(header), count_(header.loose_blobs), schedule_(header.schedule) {}

  void add(Txn& txn, uint64_t bytes) { txn.set(count_.bytes, count_.bytes + bytes); }
  void drop(Txn& txn, uint64_t bytes) {
    txn.set(count_.bytes, count_.bytes - std::min<uint64_t>(bytes, count_.bytes));
  }
  /// In proportion to the live payloads: a look reads the records of all messages whose payloads lie there.
  bool is_due() const {
    return count_.bytes >= count_.looked_at + kLooseBytesMax + schedule_.payload_bytes / 4;
  }
  bool stay() const { return header_.checking.holder() != 0 && !is_due(); }
  /// The payloads that dead processes left before this segment was made are not counted. `damaged`: they may
  /// be all that is left of messages whose records were lost.
  void begin(Txn& txn, bool damaged) {
    txn.set(count_.bytes, kUncounted);
    txn.set(count_.of_damage, damaged ? 1 : 0);
  }

 private:
  static constexpr uint64_t kUncounted = uint64_t{1} << 62;

  SegmentHeader& header_;
  LooseBlobsCount& count_;
  const ScheduleRoot& schedule_;
};

}  // namespace fq
