// event_past - the facts that a reader of the journal needs from before its stretch: the tenant of a message,
// and when it was pushed.
#pragma once

// fq, this room.
#include "core/local/look/event_stream.h"

namespace fq {

class EventPast : private Linked {
 public:
  EventPast(Link& link, EventStream& events) : Linked(link), events_(events) {}

  /// Of the file that holds this position of the stream, where it begins; of the oldest one if that was given
  /// back.
  Result<uint64_t> file_start(uint64_t position);
  /// Puts into the log the tenant of a message that was pushed before the stretch that it has read, and of
  /// others on the way.
  Result<void> learn_tenant_of(MessageId id);
  struct Push {
    std::string tenant;
    int64_t at_wall_ms = 0;
  };
  /// Of a message that has ended; none where its file was given back. Needs no log.
  Result<std::optional<Push>> push_of(MessageId id);
  /// From a push or a copy.
  static void learn_tenants(const RecordHeader& header, Bytes body, EventLog& into);

 private:
  struct Stretch {
    uint64_t from = 0, to = 0;
  };
  Result<std::optional<Stretch>> find_push(MessageId id, uint64_t high);
  Result<void> learn_older();
  Result<uint64_t> first_pushed(uint64_t from, uint64_t to);

  EventStream& events_;
};

}  // namespace fq
