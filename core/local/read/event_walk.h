// event_walk - the events of one message, from its newest back.
//
// Every event record holds the position of the one before it about the same message. A MOVED record carries
// the events of the files that it outlived, and so does an EDITED one, for when they are gone; both carry why
// the last attempt failed, however long ago that was.
#pragma once

// System.
#include <functional>
#include <optional>
// fq, this room.
#include "core/local/read/snapshot.h"

namespace fq {

enum class EventSource { record, carried, carried_error };

using EventVisitor = std::function<bool(RecordType type, int64_t at_wall_ms, const EventDetail& detail,
                                        uint64_t serial, EventSource source)>;

/// Calls `visit` for each event of the message, the newest, at `position`, first, until it returns false or
/// the journal holds no more.
Result<void> walk_events(Link& link, uint64_t id, uint64_t position, const EventVisitor& visit);

/// The way of a message between queues, as its terms tell it, for the event of it: its views are theirs.
EventDetail way_of(const MessageItem& item);

/// Why the last attempt failed, of events from the newest back.
class LastFailure {
 public:
  /// Of the message as it is now.
  explicit LastFailure(const Snapshot& snapshot);

  void look_at(RecordType type, int64_t at_wall_ms, const EventDetail& detail);
  /// Older events need not be looked at: it is found, or none of its attempts failed.
  bool is_known() const { return is_known_; }
  std::optional<LastError>& error() { return error_; }

 private:
  const bool is_leased_;
  bool is_known_;
  bool first_ = true;  // no event of a run was looked at yet
  std::optional<LastError> error_;
};

/// Why its last attempt failed, as far as the journal tells.
Result<std::optional<LastError>> last_error_of(Link& link, const Snapshot& snapshot);

/// As a person reads it.
std::string_view name_of_event(RecordType type);

}  // namespace fq
