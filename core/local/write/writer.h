// writer - the way of a change to the disk: room for it in the ring, in the journal's files, in the segment,
// under the limits.
//
// Every change has the same four beats under the state lock: look and decide, append the record, apply it,
// commit (Change); then, without the lock, the disk's part. An obstacle to the record is found under the lock
// (room_for...) and overcome outside it, and the whole is begun again: write() and write_event() are that
// loop.
//
// Owns the record with which limits are raised, and the news that the disk is full.
#pragma once

// fq, this room.
#include "core/local/shared/journal_size.h"
#include "core/local/shared/obstacle.h"
#include "core/local/write/change.h"
#include "core/local/write/upkeep.h"

namespace fq {

/// How much of the journal's last room a record of this event may use. (A kick asks for that of what is
/// accepted: Mutator.)
Purpose purpose_of(RecordType type);

class Writer : private Linked {
 public:
  Writer(Link& link, Upkeep& upkeep) : Linked(link), upkeep_(upkeep) {}

  /// Calls `work` (Result<Obstacle>()) under the state lock until it has met no obstacle. It must be
  /// repeatable up to its commit, and do nothing once it has committed.
  template <class Work>
  Result<void> write(Work&& work, const Need& need = {}) {
    return repeat(work, [&](Obstacle obstacle) { return overcome(obstacle, need); });
  }
  /// The same of an event, which a full disk need not keep from being done (see is_written). `mend` overcomes
  /// the obstacles that only the caller knows.
  template <class Work, class Mend>
  Result<void> write_event(Work&& work, Mend&& mend) {
    return repeat(work, [&](Obstacle obstacle) -> Result<void> {
      return is_callers(obstacle) ? mend() : overcome_for_event(obstacle);
    });
  }
  template <class Work>
  Result<void> write_event(Work&& work) {
    return write_event(work, [] { return Result<void>(); });
  }

  /// The obstacle to records of `bytes` in all. Needs: the lock.
  Obstacle room_for(Purpose purpose, uint64_t bytes, uint64_t more_messages = 0);
  /// Of a push that brings so many messages and needs so much of the segment, which may grow for it or not.
  Obstacle room_for_push(uint64_t bytes, const Need& need, uint64_t messages, bool may_grow);
  /// Of an event: none also where it may be done without being written. Needs: the lock.
  Obstacle room_for_event(RecordType type, uint64_t bytes);
  /// On a full disk the room that is left belongs to records that end messages. Any other event is done and
  /// not written down: after a crash such a message is where it was before, and is served again. Needs: the
  /// lock, and that room_for_event() was none.
  bool is_written(RecordType type, uint64_t bytes);
  /// Whether the disk was found to have no room for a journal file a moment ago.
  bool disk_is_full();

  Result<void> overcome(Obstacle obstacle, const Need& need = {});
  Result<void> overcome_for_event(Obstacle obstacle);
  /// The need, with that of messages appended and not linked yet. Needs: the lock.
  Need with_pending(const Need& need);
  Result<void> grow(const Need& need);

 private:
  template <class Work, class Mend>
  Result<void> repeat(Work&& work, Mend&& mend) {
    for (int met = 0; met <= kObstaclesMax; ++met) {
      Obstacle obstacle = Obstacle::none;
      FQ_TRY(locked([&]() -> Result<void> {
        FQ_TRY_SET(obstacle, work());
        return {};
      }));
      if (obstacle == Obstacle::none) return {};
      FQ_TRY(mend(obstacle));
    }
    return refuse_full();
  }
  Result<void> extend_segment(uint64_t bytes);
  Result<void> raise_limits();

  Upkeep& upkeep_;
  Body body_;  // of LIMITS
  int64_t disk_full_until_ms_ = 0;
};

}  // namespace fq
