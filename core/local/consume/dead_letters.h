// dead_letters - dead letters: kept for `dead_retention`, and then cancelled by any process that is awake.
//
// Nothing is set for them when they die: the schedule has them in order, so a look at the first tells whether
// one has had its time, and another `dead_retention` holds for those that are there.
#pragma once

// fq, this room.
#include "core/local/consume/mutator.h"

namespace fq {

class DeadLetters : private Linked {
 public:
  DeadLetters(Link& link, Writer& writer, EventWriter& events, Endings& endings, Mutator& mutator)
      : Linked(link), writer_(writer), events_(events), endings_(endings), mutator_(mutator) {}

  /// When the oldest dead letter has had its time; kNever where none has one. Needs: the lock.
  int64_t due_ms();
  Result<void> drop_old() { return kept_ms() == kUnlimited ? Result<void>() : drop_due(); }

 private:
  /// A time that no policy can say is damage of the segment: nothing is thrown away by that.
  int64_t kept_ms() {
    const int64_t ms = header().settings.dead_retention_ms.peek();
    return ms > 0 && ms <= kLatestMs ? ms : kUnlimited;
  }
  Result<void> drop_due();
  Obstacle drop_some(const Now& now);

  Writer& writer_;
  EventWriter& events_;
  Endings& endings_;
  Mutator& mutator_;
};

}  // namespace fq
