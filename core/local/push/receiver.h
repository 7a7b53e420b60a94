// receiver - a message comes from another queue, with all that is known of it: by a move, or by an import.
//
// It comes in as it is said to be, by one record. The sender has to see to it that it is not served twice.
#pragma once

// fq, this room.
#include "core/local/push/admission.h"
#include "core/local/push/queue_secret.h"
#include "core/local/write/writer.h"

namespace fq {

class Receiver : private Linked {
 public:
  Receiver(Link& link, Writer& writer, Upkeep& upkeep, Admission& admission)
      : Linked(link), writer_(writer), upkeep_(upkeep), admission_(admission), secret_(link) {}

  /// Why this queue takes no such message at all; "": nothing is known against it.
  std::string objection_to(const MessageItem& item);
  /// By a message, or for a while after one.
  Result<bool> key_is_in_use(const MessageItem& item);
  std::string key_in_use(const MessageItem& item);

  /// By what a message of another queue is known here once it was imported.
  Result<ImportToken> token_of(std::string_view origin, MessageId id, int64_t until_wall_ms);
  Result<std::optional<MessageId>> find_imported(const ImportToken& token);
  /// Of this queue, and of none besides.
  Result<std::string> origin();

  struct Received {
    MessageId id{};
    bool known = false;    // it was imported already
    std::string why = {};  // not: it was not taken
  };
  /// Takes it, under a new id. `dead`: it is, or will be, and counts against no limit. ErrorKind::later:
  /// there is no room for it. Durable only with what follows.
  Result<Received> receive(MovedRecord& record, bool dead);

 private:
  Result<MessageId> next_id();
  bool key_is_held(const MessageItem& item);
  std::optional<MessageId> imported_under(const std::optional<ImportToken>& token);

  Writer& writer_;
  Upkeep& upkeep_;
  Admission& admission_;
  QueueSecret secret_;
  Body body_;
};

}  // namespace fq
