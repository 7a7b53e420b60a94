// change - one transaction and the records that tell of it: begun with the time in order, appended, and at
// last seen by the writers of the journal.
#pragma once

// System.
#include <utility>
// fq, below us.
#include "core/base/assert.h"
#include "core/base/fault_point.h"
// fq, this room.
#include "core/local/shared/journal_size.h"
#include "core/local/write/link.h"

namespace fq {

/// Needs: the state lock, and that the records find room. Taken back whole unless it is committed.
class Change {
 public:
  explicit Change(Link& link)
      : header_(link.header()),
        stream_(link.stream()),
        txn_(link.store().begin()),
        now_(link.gate().note_now(txn_)) {}

  Txn& txn() { return txn_; }
  const Now& now() const { return now_; }
  /// Returns the record's position. It leaves what others may use, see journal_size.h.
  uint64_t append(Purpose purpose, Body& body, MessageId first_id = {}) {
    return append_at(purpose, now_.wall_ms, body, first_id);
  }
  /// The same, by another wall clock.
  uint64_t append_at([[maybe_unused]] Purpose purpose, int64_t wall_ms, Body& body, MessageId first_id = {}) {
#ifdef FQ_FAULT_POINTS
    // A second record goes on in the file that the first has opened, which may have been the last one ready.
    const bool is_second = std::exchange(has_appended_, true);
    const Purpose leaves = is_second && purpose == Purpose::accept ? Purpose::event : purpose;
    FQ_ASSERT(JournalSize(header_).leaves_room(leaves, record_bytes(body)));
#endif
    return stream_.append(txn_, body, first_id, wall_ms);
  }
  void commit() {
    txn_.commit();
    FQ_POINT("change.committed");
    stream_.publish();
  }

 private:
  SegmentHeader& header_;
  Stream& stream_;
  Txn txn_;
  const Now now_;
#ifdef FQ_FAULT_POINTS
  bool has_appended_ = false;
#endif
};

}  // namespace fq
