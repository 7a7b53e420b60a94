// mover - moves messages from one queue of a spool to another, and finishes the moves of a process that died.
//
// A move holds the spool's MoveLock. So a message that is on its way while no process has the lock belongs to
// a dead process, and the next that opens one of the two queues finishes the move: a message that has arrived
// has left, one that has not is served where it was.
#pragma once

// fq, below us.
#include "core/api/care.h"
#include "core/api/move.h"
#include "core/api/queue.h"
// fq, this room.
#include "core/local/files/move_lock.h"
#include "core/local/push/crossing.h"

namespace fq {

/// A queue that is open, as moves see it.
class MovingQueue {
 public:
  virtual ~MovingQueue() = default;
  virtual const Location& location() = 0;
  virtual Crossing& crossing() = 0;
};

class Mover {
 public:
  /// Another queue of the spool, by name.
  using Open = std::function<Result<std::unique_ptr<MovingQueue>>(const std::string& queue)>;
  /// Moves from this queue.
  Mover(MovingQueue& from, Open open) : from_(from), open_(std::move(open)) {}

  /// `timeout_ms`: how long others may have the lock.
  Result<MoveReply> move(std::span<const MessageId> ids, const MoveRequest& request, int64_t timeout_ms);
  /// Nothing where another process is at it.
  Result<void> finish();
  Result<void> finish(const MoveLock& held);
  /// Finds messages that have left for another queue which knows nothing of them: its journal's end was
  /// damaged.
  Result<void> find_lost(CheckReport& report);
  /// The same of this queue's end, as the others tell.
  Result<void> find_lost_here(CheckReport& report);

 private:
  struct SentOne;
  struct Sent;
  Result<void> move_some(std::span<const MessageId> ids, const MoveRequest& request, MovingQueue& to,
                         MoveReply& reply);
  Result<void> receive(const Sent& sent, SentOne& one, const MoveRequest& request, MovingQueue& to,
                       MoveReply& reply);
  Result<void> end(const Sent& sent, const MoveRequest& request, MovingQueue& to);
  static Result<std::vector<MoveLedger::Departure>> departures_of(MovingQueue& queue);
  Result<void> finish_one(const InTransit& message);
  Result<std::string> other_name(const InTransit& message) const;

  MovingQueue& from_;
  Open open_;
};

}  // namespace fq
