// lease_breaker - returns all leased messages, whoever holds them; no attempt is counted.
//
// For a copy of a queue: a process that holds a message of the original holds none of the copy's, and the
// copying is neither an attempt nor a crash.
#pragma once

// fq, this room.
#include "core/local/write/event_writer.h"

namespace fq {

class LeaseBreaker : private Linked {
 public:
  LeaseBreaker(Link& link, Writer& writer, EventWriter& events)
      : Linked(link), writer_(writer), events_(events) {}

  /// Durable when it returns.
  Result<void> break_all();

 private:
  Result<void> break_one(MessageId id);

  Writer& writer_;
  EventWriter& events_;
};

}  // namespace fq
