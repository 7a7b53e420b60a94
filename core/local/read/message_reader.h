// message_reader - a message's record and payload, wherever they lie now.
//
// Owns the last record read, whose memory is used again: item() is good until the next read.
#pragma once

// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "core/local/flush/taken_message.h"
#include "core/local/read/snapshot.h"

namespace fq {

class MessageReader : private Linked {
 public:
  explicit MessageReader(Link& link) : Linked(link) {}

  /// False: it cannot be read, or has ended; message.place is where it was looked for last.
  Result<bool> read(FoundMessage& message) {
    if (message.place) {
      FQ_TRY_SET(const bool found, reader().read(*message.place, stored_));
      if (found) return true;
    }
    return find_and_read(message);
  }
  /// Reads the message at one place. False: it lies there no more, or cannot be read.
  Result<bool> read(const ItemPlace& place) { return reader().read(place, stored_); }
  const MessageItem& item() const { return stored_.item; }
  /// Of the item; in `memory`, unless it lies in a blob.
  Result<void> payload(PayloadMemory& memory, Payload& into) {
    if (stored_.item.blob) return open_payload(into);
    memory.add(as_text(stored_.item.payload), into);
    return {};
  }
  /// Whether the filter takes its tags and why it failed; the rest of it is matches().
  Result<bool> fits(const Snapshot& snapshot, const Filter& filter);

  /// Of a record that cannot be read: why.
  std::string lost_text(const FoundMessage& message);
  /// The same, but an Error where it is no fault of the record alone: the file that the queue writes to is
  /// gone.
  Result<std::string> what_is_lost(const FoundMessage& message);

 private:
  Result<bool> find_and_read(FoundMessage& message);
  Result<void> open_payload(Payload& into);
  Result<bool> has_tag(const Snapshot& snapshot, const Tag& tag);

  StoredItem stored_;
};

bool has_tag(const MessageItem& item, const Tag& tag);

/// A job's command, where it is one.
std::optional<JobCommand> command_of(const JobTerms& terms);

}  // namespace fq
