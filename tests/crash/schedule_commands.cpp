// schedule_commands - schedules that are set, come due and go, for the table of operations.
//
// What comes due was set by a clock that is an hour behind: the command that comes next finds its time
// passed, and the time after that is far away.
#include "tests/process/late_clock.h"
#include "tests/crash/operations.h"

namespace fq::test {

namespace {

void schedule_set(Trial& t) {
  t.spool.push("a1", "a");
  t.must = {"a1"};
  t.words = {"schedule", "set", "yearly", "@yearly", "tick"};
}
void schedule_remove(Trial& t) {
  schedule_set(t);
  t.spool.says(t.words);
  t.words = {"schedule", "remove", "yearly"};
}
void schedule_due(Trial& t) {
  LateClock clock(61 * kBehindMinuteMs);
  set_late(*open_behind(t.spool, clock), "tick");
  t.must = {"tick"};
  t.words = {"peek"};
}
/// One that it has made is unfinished when the next time has come.
void overlap(Trial& t, OverlapRule rule) {
  LateClock first(121 * kBehindMinuteMs), second(61 * kBehindMinuteMs);
  set_late(*open_behind(t.spool, first), "tick");
  const std::unique_ptr<Queue> queue = open_behind(t.spool, second);
  REQUIRE(queue->maintain(0).ok());
  set_late(*queue, "tock", rule);
  t.words = {"peek"};
}
void schedule_skip(Trial& t) { overlap(t, OverlapRule::skip), t.must = {"tick"}; }
void schedule_cancel(Trial& t) {
  overlap(t, OverlapRule::cancel);
  t.may = {"tick"};
  t.must = {"tock"};
}
/// Its record lies in a file that the command gives back.
void schedule_carried(Trial& t) {
  t.spool.says({"schedule", "set", "yearly", "@yearly", "tick"});
  t.words = {"ack"};
  const std::unique_ptr<Queue> queue = t.spool.door();
  for (int i = 0; i < 10; ++i) {
    const std::string payload = std::to_string(i) + std::string(60'000, 'p');
    const NewMessage one{.tenant = "pin", .payload = as_bytes(payload)};
    REQUIRE(queue->push({&one, 1}).ok());
    t.may.insert(payload);
  }
  for (int i = 0; i < 10; ++i) {
    const std::string line = t.spool.says({"pop", "--lease", "1h", "-t", "pin"});
    t.words.push_back(line.substr(0, line.find('\t')));
  }
  churn(t.spool, 1'800'000);
  t.spool.push("last", "a");
  t.must = {"last"};
}

}  // namespace

std::vector<Operation> with_schedule_commands(std::vector<Operation> operations) {
  const Operation all[] = {
      {"schedule_set", schedule_set, {"schedule.appended"}},
      {"schedule_remove", schedule_remove, {"schedule.removed"}},
      {"schedule_due",
       schedule_due,
       {"clock.schedules_moved", "timers.fired", "push.appended", "push.committed"}},
      {"schedule_skip", schedule_skip, {"clock.schedules_moved", "schedule.due", "schedule.skipped"}},
      {"schedule_cancel",
       schedule_cancel,
       {"clock.schedules_moved", "event.appended", "event.committed", "schedule.cancelled", "push.appended"}},
      {"schedule_carried",
       schedule_carried,
       {"schedule.appended", "schedules.carried", "compaction.low_durable"}},
  };
  operations.insert(operations.end(), std::begin(all), std::end(all));
  return operations;
}

}  // namespace fq::test
