// deliverer - messages that were taken, read for the process that gets them.
//
// Read outside the lock. One whose record or payload is lost goes to the dead letters, and is told; where
// something else is in the way, all that cannot be delivered goes back at once.
#pragma once

// fq, this room.
#include "core/local/consume/settler.h"

namespace fq {

class Deliverer : private Linked {
 public:
  Deliverer(Link& link, MessageReader& messages, Settler& settler)
      : Linked(link), messages_(messages), settler_(settler) {}

  /// An Error means that nothing is delivered: all of `taken` was returned, or is buried.
  Result<void> deliver(std::span<TakenMessage> taken, LeaseReply& reply);

 private:
  Result<void> deliver_one(TakenMessage& one, PayloadMemory& memory, LeaseReply& reply);
  void return_leases(std::span<const TakenMessage> taken);
  Result<void> set_aside(const TakenMessage& taken, const std::string& what, LeaseReply& reply);

  MessageReader& messages_;
  Settler& settler_;
};

}  // namespace fq
