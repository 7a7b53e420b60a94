// schedule_runner - messages made of schedules whose time has come, by any process at work on the queue.
//
// A due time is accounted for in the transaction that appends its message, or the record that it makes none.
// So a death before it leaves the time due, and one after it leaves it done; two processes at work at once
// see each other's messages. A schedule that finds no room is put aside, and tried again when a message has
// ended since.
#pragma once

// System.
#include <set>
// fq, below us.
#include "core/engine/schedule_times.h"
// fq, this room.
#include "core/local/consume/mutator.h"
#include "core/local/push/push_writer.h"
#include "core/local/schedules/schedule_reader.h"
#include "core/local/write/wall_clock.h"

namespace fq {

class ScheduleRunner : private Linked {
 public:
  struct Needs {
    Writer& writer;
    Mutator& mutator;
    PushWriter& pushes;
    WallClock& wall_clock;
  };
  ScheduleRunner(Link& link, const Needs& needs)
      : Linked(link),
        writer_(needs.writer),
        mutator_(needs.mutator),
        pushes_(needs.pushes),
        wall_clock_(needs.wall_clock),
        reader_(link) {}

  /// A part of what is due; whether there is more. Nothing to do in a queue without schedules, and nothing
  /// under the lock where none is due.
  Result<bool> run_due() {
    return header().schedule.recurring_supply.used.peek() == 0 ? Result<bool>(false) : run_some_due();
  }
  /// One message of it now; none: there is none of this name.
  Result<std::optional<MessageId>> run(std::string_view name);

 private:
  enum class Before { ended, unfinished, unknown };  // of the message that it made before

  Result<bool> run_some_due();
  void try_refused();
  Result<bool> see_due(ScheduleSnapshot& seen);
  Result<void> run_one(ScheduleSnapshot& seen);
  Result<void> make(const ScheduleSnapshot& seen, const ScheduleTimes::Decision& due);
  Result<void> skip(const ScheduleSnapshot& seen, Occurrence why, const ScheduleTimes::Decision& due);
  Result<void> postpone(const ScheduleSnapshot& seen, int64_t next_wall_ms, int64_t wait_ms);
  Result<void> refuse(const ScheduleSnapshot& seen);
  Before before_now(const ScheduleSnapshot& seen);
  Order order() { return header().settings.order.peek(); }
  Result<Appended> push(const ScheduleSnapshot& seen, int64_t at_wall_ms, int64_t next_wall_ms,
                        std::optional<MessageId> after, const Precondition& precondition);
  void tell(const ScheduleSnapshot& seen, const std::string& fault);

  Writer& writer_;
  Mutator& mutator_;
  PushWriter& pushes_;
  WallClock& wall_clock_;
  ScheduleReader reader_;
  StoredSchedule stored_;
  Body body_;
  uint64_t end_ = 0;        // of what was appended and is not waited for yet
  uint32_t ends_seen_ = 0;  // when those that were refused were tried last
  int64_t tried_ms_ = INT64_MIN / 2;
  std::set<uint64_t> told_;  // versions whose fault was told
};

}  // namespace fq
