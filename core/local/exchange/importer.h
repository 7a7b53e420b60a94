// importer - messages that another queue has exported come into this one, each under a new id.
//
// Its record says by which token of its old queue it is known (terms.imported), so what an import that broke
// off has taken in is found when that is repeated. Steps have records of their own behind it: until the last
// of them is there the message is delayed, so far ahead that no consumer waits for it, also once what it is
// held for lets it go, and an import that finds it so goes on.
#pragma once

// fq, below us.
#include "core/api/exported.h"
// fq, this room.
#include "core/local/push/editor.h"
#include "core/local/push/receiver.h"
#include "core/local/write/event_writer.h"
#include "core/local/write/pushed_blobs.h"

namespace fq {

class Importer : private Linked {
 public:
  struct Needs {
    Writer& writer;
    EventWriter& events;
    Upkeep& upkeep;
    Receiver& receiver;
    Editor& editor;
  };
  Importer(Link& link, const Needs& needs)
      : Linked(link),
        writer_(needs.writer),
        events_(needs.events),
        upkeep_(needs.upkeep),
        receiver_(needs.receiver),
        editor_(needs.editor) {}

  /// As Queue::import_messages.
  Result<ImportReply> take(std::span<const ExportedMessage> messages, std::string_view origin);

 private:
  Result<ImportResult> take_one(const ExportedMessage& message, std::string_view origin);
  Result<Receiver::Received> receive(const ExportedMessage& message, const ImportToken& token);
  Result<void> finish(const ExportedMessage& message, MessageId id);
  Result<void> add_step(MessageId id, const ExportedStep& step);
  /// How far it is: its parts may be missing until it may start, or where it is to be dead.
  enum class Progress { done, waits, dead };
  Result<Progress> progress_of(MessageId id);
  Result<void> let_go(const ExportedMessage& message, MessageId id);
  Result<void> end(MessageId id, State state);

  Writer& writer_;
  EventWriter& events_;
  Upkeep& upkeep_;
  Receiver& receiver_;
  Editor& editor_;
  Body body_;
};

}  // namespace fq
