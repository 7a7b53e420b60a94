// crossing - one queue's part in a move: a message leaves it for another queue, or comes from one.
//
// Four records, each durable before the next, so that whatever dies the message is in one queue that serves
// it, or held in both and told apart by a token: `leaving` here, `arrived` there, `left` here, `freed` there.
// A process that finds it between two of them (mover.h) needs no memory of the process that began.
#pragma once

// System.
#include <functional>
// fq, below us.
#include "core/api/move.h"
// fq, this room.
#include "core/local/push/receiver.h"
#include "core/local/read/carried.h"
#include "core/local/read/move_ledger.h"
#include "core/local/write/event_writer.h"
#include "core/local/write/pushed_blobs.h"

namespace fq {

/// The other end of a move.
struct OtherEnd {
  uint64_t token = 0;
  std::string queue;
  QueueMark mark{};
};

/// A message that is held because it is on its way.
struct InTransit {
  MessageId id{};
  bool leaving = false;
  OtherEnd other;
  MessageId id_there{};  // known of one that comes: as what it left
};

/// A message as it was when it left, with its payload where that lies in blobs/.
struct Parcel {
  Carried carried;
  std::string long_payload;
  SlotState then{};
  int64_t then_wall_ms = 0;
};

class Crossing : private Linked {
 public:
  struct Needs {
    Writer& writer;
    EventWriter& events;
    Upkeep& upkeep;
    Receiver& receiver;
  };
  Crossing(Link& link, const Needs& needs)
      : Linked(link),
        writer_(needs.writer),
        events_(needs.events),
        upkeep_(needs.upkeep),
        receiver_(needs.receiver) {}

  /// Why the other queue would not take it; "": nothing is known against it.
  using Objection = std::function<Result<std::string>(const Parcel&)>;
  /// Holds it for the other queue, unless it has to stay. Durable only with what follows.
  Result<MoveResult> send(MessageId id, const OtherEnd& to, const Objection& objection, Parcel& parcel);
  /// It is in the other queue. Needs: it was sent, and is durable there.
  Result<void> leave(MessageId id, std::string_view queue, MessageId id_there);

  Result<std::string> objection_to(const Parcel& parcel, const std::string& tenant);
  /// Takes what was sent, held for now. ErrorKind::later: there is no room for it.
  Result<Receiver::Received> receive(const Parcel& parcel, const OtherEnd& from, const std::string& tenant);

  /// Is on its way no more: served here, as it was before.
  Result<void> settle(MessageId id);
  Result<void> wait_durable() { return link_.wait_all_durable(); }

  /// The messages on their way, in either direction.
  Result<std::vector<InTransit>> all();
  /// The moves that the journal tells of.
  Result<MoveLedger> ledger();
  /// Whether something may be.
  bool may_have_some() {
    return (header().nothing_moves.load(std::memory_order_relaxed) & kNothingMoves) == 0;
  }
  /// Whether the journal may tell of one that went to another queue.
  bool may_have_departures() {
    return (header().nothing_moves.load(std::memory_order_relaxed) & kNothingLeft) == 0;
  }
  /// Needs: the spool's MoveLock, also while it was looked at.
  void note_some() { header().nothing_moves.store(0, std::memory_order_relaxed); }
  void note_nothing_moves() { header().nothing_moves.fetch_or(kNothingMoves, std::memory_order_relaxed); }
  void note_nothing_left() { header().nothing_moves.fetch_or(kNothingLeft, std::memory_order_relaxed); }
  const QueueMark& own_mark() { return mark(); }

 private:
  /// The record of a message that leaves.
  struct Draft {
    EditedRecord record;
    std::string terms;
  };
  Result<std::vector<uint64_t>> ids_in_transit();
  std::string why_it_stays(SlotIndex slot);
  Result<MoveResult> look(MessageId id, Parcel& parcel, bool& pending);
  Result<void> read_payload(Parcel& parcel, MoveResult& result);
  static void fill(const Parcel& parcel, const OtherEnd& to, int64_t now_wall_ms, Draft& draft);
  Result<bool> write_leaving(const Parcel& parcel, const Draft& draft);

  Writer& writer_;
  EventWriter& events_;
  Upkeep& upkeep_;
  Receiver& receiver_;
  Body body_;
};

}  // namespace fq
