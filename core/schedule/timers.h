// timers - the changes that time makes: messages become due, leases end, tenants are unparked or forgotten.
//
// Stands on the delay heap (order/delay_heap.h) and tells each timer's owner that it is due. Time is handed
// in, so a queue that is looked at late comes to the same state as one that is looked at in time.
#pragma once

// fq, this room.
#include "core/schedule/memory/extras.h"

namespace fq {

class Timers {
 public:
  explicit Timers(const Region& region) : region_(region) {}

  /// When the next timer is due; kNever without one. Long ago while nodes are behind the queue's terms.
  int64_t next_ms() const;
  /// The timer of this message would fire now.
  bool is_due(const Entry& entry, int64_t now_ms) const {
    return entry.heap_place != kNoIndex && timer_ms(region_, entry) <= now_ms;
  }
  /// Fires due timers, after nodes that are behind the queue's terms were looked at: delayed messages become
  /// ready, those with a TTL dead, leases whose time is over come back (an attempt and a crash), idle tenants
  /// are forgotten, those that are blocked until a time are free, schedules are put among those that are due.
  /// As many as fit 32 steps; returns how many,
  /// 0 when none is due.
  uint32_t fire(Txn& txn, int64_t now_ms) const;
  /// Replay only, after a reboot: rewrites all times from the old boot's clock to the new one's, where
  /// `shift_ms` is the old offset of wall time minus the new one. A timer t becomes t + shift_ms (the same
  /// wall time), but never before new_now_ms and never further away than it was at old_now_ms:
  /// clamp(t + shift_ms, new_now_ms, new_now_ms + max(0, t - old_now_ms)). Other times (ready since,
  /// dead since) are only shifted. Walks all, without a transaction: never on a region that others see.
  void shift(int64_t old_now_ms, int64_t new_now_ms, int64_t shift_ms) const;

 private:
  void fire_of_message(Txn& txn, uint32_t slot, int64_t due_ms, int64_t now_ms) const;

  const Region& region_;
};

}  // namespace fq
