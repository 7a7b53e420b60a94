// move_ledger - the moves in a queue's journal: the messages that have left, for which queue, and those that
// have arrived.
//
// Damage behind the last record that is known to be durable looks like a torn end. Where the lost record told
// of a message that came from another queue, that queue's journal still tells that it left.
#pragma once

// System.
#include <map>
#include <set>
#include <string>
#include <vector>
// fq, below us.
#include "core/journal/journal.h"

namespace fq {

class MoveLedger {
 public:
  struct Departure {
    MessageId id{};
    std::string mark;  // of the other queue
    MessageId id_there{};
  };

  static Result<MoveLedger> read(Disk& disk);

  /// Of which the journal still tells where they went.
  const std::vector<Departure>& departures() const { return departures_; }
  /// Whether nothing tells that it arrived under this id, though the journal still has what came before.
  bool lacks(MessageId id) const;

 private:
  void visit(const ScannedRecord& record);
  void visit_pushed(MessageId id);

  bool from_the_beginning_ = false;
  uint64_t least_new_id_ = UINT64_MAX;  // ids grow along the stream
  std::map<MessageId, std::string> leaving_;
  std::vector<Departure> departures_;
  std::set<MessageId> arrived_;
};

}  // namespace fq
