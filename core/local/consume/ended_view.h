// ended_view - messages that have ended, as the log that Endings keeps tells of them.
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
  /// The history of a message of which the journal knows nothing any more.
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
