// history - the history of one message, read back from the journal.
#pragma once

// fq, this room.
#include "core/local/consume/ended_view.h"
#include "core/local/read/message_reader.h"

namespace fq {

class History : private Linked {
 public:
  History(Link& link, MessageReader& messages, EndedView& ended)
      : Linked(link), messages_(messages), ended_(ended) {}

  /// Its newest `n` events, the oldest first.
  Result<HistoryPage> of(MessageId id, size_t n);

 private:
  MessageReader& messages_;
  EndedView& ended_;
};

}  // namespace fq
