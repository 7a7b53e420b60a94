// plain_ack - what nearly every ack is, in one go: of a leased message without key, waits or steps, for which
// nobody waits and that no pool counts.
//
// Messages::finish_by_parts goes from part to part, each of which looks for itself whether it is concerned.
// Both leave the same bytes, which plain_ways_test.cpp holds.
#pragma once

// fq, this room.
#include "core/schedule/order/outcomes.h"

namespace fq {

class PlainAck {
 public:
  explicit PlainAck(const Region& region) : region_(region) {}

  /// Ends it as acked. False: nothing was done, since something is not as mostly; Messages::finish_by_parts
  /// does it.
  bool finish(Txn& txn, SlotIndex slot, const MessageEnd& end) const;

 private:
  bool is_usual(const Entry& entry) const;
  void count(Txn& txn, const Message& message, int64_t now_ms) const;

  const Region& region_;
};

}  // namespace fq
