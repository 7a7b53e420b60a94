// event_writer - writes events of messages that are there: applies and tells each by one record, and wakes
// the processes that sleep for it.
//
// Owns the record of events and the items it is made of.
#pragma once

// System.
#include <span>
// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "core/local/write/writer.h"

namespace fq {

class EventWriter : private Linked {
 public:
  EventWriter(Link& link, Writer& writer, Upkeep& upkeep);

  /// Applies an event to the first of `slots`, as many as fit one transaction, and appends one record for
  /// them; returns how many, one at least. `settles`: the verdicts, where that is what they are. Needs: the
  /// lock and that room_for_event() was none.
  size_t append(RecordType type, std::span<const SlotIndex> slots, const EventDetail& detail,
                std::span<SettleStatus> statuses = {}, std::span<const Settle* const> settles = {});
  /// To one.
  void append(RecordType type, SlotIndex slot, const EventDetail& detail = {}) {
    append(type, std::span(&slot, 1), detail);
  }
  /// Gives one back, uncounted; where its job sleeps the event tells until when. Needs: the same.
  void return_lease(SlotIndex slot);
  /// To all of a few, as a part of `change`, which wakes no process by itself. Needs: the same, and room for
  /// them in the transaction.
  void add(Change& change, RecordType type, std::span<const SlotIndex> slots, const EventDetail& detail);

 private:
  uint64_t loose_bytes_of(const Entry& entry);
  bool is_news_to_holder(RecordType type, const Entry& entry) const;
  void tell_holder(Txn& txn, const Entry& entry);
  void wake_for(RecordType type);

  Writer& writer_;
  Upkeep& upkeep_;
  Body body_;
  std::vector<EventItem> items_;
};

}  // namespace fq
