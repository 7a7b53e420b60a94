// event_reader - the journal told as events, oldest first, and waited for at its end.
//
// A record copied forward (MOVED) is not an event: it only tells the tenant of its message. Events without a
// record are not told: a TTL or a lease that ended by time, and that an attempt was the last one. They cannot
// be worked out either: on a full disk leases and extensions are done without a record, and after a reboot
// other clocks hold. The push and the lease tell instead when these ends were to come.
//
// The last few events can be had without reading all: the newest file is read and counted, and only when it
// holds too few the one before it. Records cannot be read backwards, so places on the way are noted, and the
// surplus behind the last one that has enough is counted off.
#pragma once

// fq, this room.
#include "core/local/look/event_past.h"

namespace fq {

class EventReader : private Linked {
 public:
  explicit EventReader(Link& link) : Linked(link), events_(link), past_(link, events_) {}

  Result<void> events(const EventRequest& request, EventPage& page);

 private:
  Result<void> begin(const EventRequest& request);
  Result<void> begin_near_end(const EventRequest& request);
  Result<void> read(const EventRequest& request, EventPage& page);
  Result<uint32_t> owner_of(MessageId id);
  Result<bool> emit_pushed(const RecordHeader& header, Bytes body, const EventRequest& request,
                           EventPage& page);
  Result<bool> emit_events(const RecordHeader& header, Bytes body, const EventRequest& request,
                           EventPage& page);
  Result<bool> emit_scheduled(const RecordHeader& header, Bytes body, const EventRequest& request,
                              EventPage& page);
  Result<bool> emit_set(const RecordHeader& header, Bytes body, const EventRequest& request, EventPage& page);
  Result<bool> emit_stepped(const RecordHeader& header, Bytes body, const EventRequest& request,
                            EventPage& page);
  bool emit_whole(const RecordHeader& header, const MovedRecord& now, const EventRequest& request,
                  EventPage& page);
  Result<bool> emit_record(const RecordHeader& header, Bytes body, const EventRequest& request,
                           EventPage& page);
  void sleep_until_written(Interrupt* interrupt, uint32_t seen, int64_t wait_ms);

  EventStream events_;
  EventPast past_;
};

}  // namespace fq
