// change - one transaction and the records that tell of it: begun with the time in order, appended, and at
// last seen by the writers of the journal.
#pragma once

// fq, below us.
#include "core/base/fault_point.h"
// fq, this room.
#include "core/local/write/link.h"

namespace fq {

/// Needs: the state lock, and that the records find room. Taken back whole unless it is committed.
class Change {
 public:
  explicit Change(Link& link)
      : stream_(link.stream()), txn_(link.store().begin()), now_(link.gate().note_now(txn_)) {}

  Txn& txn() { return txn_; }
  const Now& now() const { return now_; }
  /// Returns the record's position.
  uint64_t append(Body& body, MessageId first_id = {}) { return append_at(now_.wall_ms, body, first_id); }
  /// The same, by another wall clock.
  uint64_t append_at(int64_t wall_ms, Body& body, MessageId first_id = {}) {
    return stream_.append(txn_, body, first_id, wall_ms);
  }
  void commit() {
    txn_.commit();
    FQ_POINT("change.committed");
    stream_.publish();
  }

 private:
  Stream& stream_;
  Txn txn_;
  const Now now_;
};

}  // namespace fq
