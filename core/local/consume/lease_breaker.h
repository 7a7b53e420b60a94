// lease_breaker - gives back what anybody holds, as if it had not been taken.
//
// For a copy of a queue: whoever holds a message of the original holds none of the copy's, and that the copy
// was made meanwhile is no attempt and no crash.
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
