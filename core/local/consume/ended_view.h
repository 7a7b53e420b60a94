// ended_view - what is told of messages that have ended, from the log that Endings keeps.
#pragma once

// fq, below us.
#include "core/api/steps.h"
// fq, this room.
#include "core/local/consume/endings.h"

namespace fq {

class EndedView : private Linked {
 public:
  EndedView(Link& link, Endings& endings) : Linked(link), endings_(endings) {}

  Result<std::optional<MessageInfo>> find(MessageId id);
  Result<std::optional<JobOutput>> output(MessageId id);
  /// What happened to one of which the journal knows nothing any more.
  Result<HistoryPage> history(MessageId id);
  /// None: it is not told of.
  std::optional<std::vector<StepInfo>> steps(MessageId id);
  Result<MessagePage> page(const Filter& filter, const Cursor& from, size_t n);

 private:
  Result<bool> lives(uint64_t id);
  EndedLog& log() { return endings_.notes().log(); }

  Endings& endings_;
};

}  // namespace fq
