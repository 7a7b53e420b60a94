// step_pauses - steps that take time: the message is given back until then, and its job ends meanwhile.
//
// A lease that a process holds is suspended: its end, whatever that is, brings the message to sleep, so it is
// not run again while the job that slept is still there. A job back at such a step under another lease has
// slept, or has waited: the messages that it waited for are looked at again, and where some are unfinished
// (more than kAfterMax can be waited for in turns only) it waits on.
#pragma once

// fq, this room.
#include "core/local/steps/step_book.h"

namespace fq {

class StepPauses : private Linked {
 public:
  StepPauses(Link& link, StepBook& book) : Linked(link), book_(book), reader_(link) {}

  Result<StepPause> sleep(const Receipt& receipt, std::string_view name, std::optional<int64_t> delay_ms,
                          int64_t until_wall_ms);
  Result<StepPause> wait(const Receipt& receipt, std::string_view name,
                         std::optional<std::span<const MessageId>> ids);

 private:
  /// What is said of the messages that are waited for beside what is known of each.
  struct Memory {
    bool all = false;     // all are known, else they are refused
    bool failed = false;  // of those that are known no more not all were acked
  };

  Result<std::vector<uint64_t>> wanted(const Receipt& receipt, std::string_view name,
                                       std::optional<std::span<const MessageId>> ids);
  Result<void> look_at(std::vector<uint64_t>& ids, const Memory& memory, SteppedRecord& step);
  Result<StepPause> wait_on(const Receipt& receipt, std::vector<uint64_t> ids, const Memory& memory,
                            SteppedRecord step);

  StepBook& book_;
  StepReader reader_;
};

}  // namespace fq
