// resolver - held messages: released or buried once their dependencies have ended; held again when one comes
// back.
//
// Each end leaves its message in a list of the schedule; the next process (the one that ended it, a consumer,
// one that looks) goes through it, a few in a transaction, each with its record. A process that is killed
// leaves the rest.
#pragma once

// fq, this room.
#include "core/local/write/event_writer.h"

namespace fq {

class Resolver : private Linked {
 public:
  Resolver(Link& link, Writer& writer, EventWriter& events)
      : Linked(link), writer_(writer), events_(events) {}

  /// Messages whose dependencies have ended are let go or buried, those whose came back are held again.
  Result<void> resolve() {
    return header().schedule.dependency_supply.used.peek() == 0 ? Result<void>() : resolve_ended();
  }

 private:
  Result<void> resolve_ended();
  void append_decisions(uint32_t dependency);

  Writer& writer_;
  EventWriter& events_;
  std::string reason_;
};

}  // namespace fq
