// viewer - peek and get: the messages that are there, without changing them.
//
// Under the lock only fields are copied (Snapshot); payloads are read behind it. Pages are bounded and weakly
// consistent: a message that changes between two pages may be told or not, one that does not is told once.
#pragma once

// fq, this room.
#include "core/local/consume/ended_view.h"
#include "core/local/consume/reaper.h"
#include "core/local/look/pages.h"
#include "core/local/look/turn_pages.h"

namespace fq {

class Viewer : private Linked {
 public:
  Viewer(Link& link, MessageReader& messages, Reaper& reaper, Pages& pages, EndedView& ended)
      : Linked(link), messages_(messages), reaper_(reaper), pages_(pages), turns_(link), ended_(ended) {}

  Result<MessagePage> peek(const Filter& filter, const Cursor& from, size_t n);
  Result<std::optional<MessageInfo>> get(MessageId id);
  /// The dead messages that the filter takes, the latest death first. A cursor is the wall time of a death
  /// and the id.
  Result<MessagePage> dead(const Filter& filter, const Cursor& from, size_t n);

 private:
  Result<MessageInfo> describe(const Snapshot& snapshot);
  Result<void> add_run(const Snapshot& snapshot, MessageInfo& info);
  Result<void> add_waits(const Snapshot& snapshot, const MessageItem& item, MessageInfo& info);
  Result<void> add_item(const Snapshot& snapshot, MessageInfo& info);
  Result<MessagePage> peek_ready(const Filter& filter, size_t given, size_t n);

  MessageReader& messages_;
  Reaper& reaper_;
  Pages& pages_;
  TurnPages turns_;
  EndedView& ended_;
};

}  // namespace fq
