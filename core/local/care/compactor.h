// compactor - the messages that pin the oldest journal file, copied forward as MOVED records with all that
// is known of them, so that the file can go.
//
// A message is read without the lock and its copy appended only if it still is what it was: work goes on
// meanwhile, and several processes may copy from one file.
#pragma once

// System.
#include <optional>
#include <vector>
// fq, this room.
#include "core/local/read/carried.h"
#include "core/local/read/message_reader.h"
#include "core/local/write/event_writer.h"

namespace fq {

/// Owns the record that a message is copied with.
class Compactor : private Linked {
 public:
  struct InOldest {
    MessageId id;
    uint64_t item_position;
  };
  /// `again`: it changed meanwhile, or what was in the way is overcome; `gone`: it lies there no more.
  enum class Copied { moved, again, gone, unreadable };

  Compactor(Link& link, Writer& writer, EventWriter& events, MessageReader& messages)
      : Linked(link), writer_(writer), events_(events), messages_(messages) {}

  /// One step through the oldest file. False: nothing in it can be copied.
  Result<bool> copy_forward();
  /// Messages that have another payload than their push gave them, so that the files of their pushes can go.
  /// Returns the one that it cannot pass: a process holds it, and its record cannot be read.
  Result<std::optional<InOldest>> carry_replaced();
  /// Some messages whose payload lies in the oldest file, from where the last look stopped. True: to the end.
  Result<bool> find_in_oldest(std::vector<InOldest>& found);
  Result<Copied> copy_message(MessageId id, uint64_t item_position);
  /// A message whose record, at that place, cannot be read: it keeps no file where it is. Buried first, if it
  /// is not dead (`again`). `unreadable`: a process holds it, and may still end it.
  Result<Copied> give_up(MessageId id, uint64_t item_position);

 private:
  uint32_t find_replaced(std::vector<InOldest>& found, size_t found_max);
  Result<Copied> put_forward(const Carried& carried);
  bool append_moved(const Carried& carried);
  Result<void> bury_lost(MessageId id, uint64_t item_position, const std::string& what);

  Writer& writer_;
  EventWriter& events_;
  MessageReader& messages_;
  Body body_;
};

}  // namespace fq
