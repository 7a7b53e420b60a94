// schedule_operations - schedules that are set and come due, for the table of what is killed at every
// instruction.
//
// What a time makes is in the ledger from before it comes: whoever dies on the way, the survivor makes it,
// once.
#include "tests/crash/door_operations.h"

namespace fq::test {

namespace {

constexpr int64_t kPeriodMs = 3'600'000;

bool set_hourly(Queue& queue, const char* payload, OverlapRule overlap = OverlapRule::skip) {
  ScheduleDefinition definition;
  definition.name = "hourly";
  definition.spec = "every 1h";
  definition.overlap = overlap;
  definition.message.tenant = "s";
  definition.message.payload = as_bytes(std::string_view(payload));
  return queue.schedules()->set(definition).ok();
}

void begin_schedules(Scene& s) {
  const std::unique_ptr<Queue> queue = s.open();
  s.push(*queue, {{"a1", "a"}, {"b1", "b"}});
}

void to_set(Scene& s) { begin_schedules(s); }
void set_schedule(Scene& s) {
  s.act([](Queue& queue) { return set_hourly(queue, "tick"); });
}

void to_come_due(Scene& s) {
  begin_schedules(s);
  REQUIRE(set_hourly(*s.open(), "tick"));
  s.clock.advance(kPeriodMs);
  s.must.insert("tick");
}
/// With one that it has made and that is unfinished.
void to_overlap(Scene& s, OverlapRule overlap) {
  to_come_due(s);
  const std::unique_ptr<Queue> queue = s.open();
  REQUIRE(queue->maintain(0).ok());
  REQUIRE(set_hourly(*queue, "tock", overlap));
  s.clock.advance(kPeriodMs);
}
void to_skip(Scene& s) { to_overlap(s, OverlapRule::skip); }
void to_cancel(Scene& s) {
  to_overlap(s, OverlapRule::cancel);
  s.must.erase("tick");
  s.deeds[kFirst].ends = {"tick"};
  s.must.insert("tock");
}
/// The wall clock is set so that its time has come.
void to_move(Scene& s) {
  begin_schedules(s);
  REQUIRE(set_hourly(*s.open(), "tick"));
  s.clock.set_wall_ms(s.clock.wall_ms() + kPeriodMs);
  s.must.insert("tick");
}
void run_due(Scene& s) {
  s.act([](Queue& queue) { return queue.maintain(0).ok(); });
}

void to_remove(Scene& s) {
  begin_schedules(s);
  REQUIRE(set_hourly(*s.open(), "tick"));
}
void remove_schedule(Scene& s) {
  s.act([](Queue& queue) { return queue.schedules()->remove("hourly").value(); });
}

}  // namespace

std::vector<DoorOperation> with_schedules(std::vector<DoorOperation> operations) {
  const DoorOperation all[] = {{"a schedule is set", to_set, set_schedule},
                               {"a schedule comes due", to_come_due, run_due},
                               {"a schedule skips", to_skip, run_due, Short::nothing},
                               {"a schedule cancels", to_cancel, run_due},
                               {"the wall clock passes a schedule", to_move, run_due, Short::nothing},
                               {"a schedule is removed", to_remove, remove_schedule, Short::nothing}};
  operations.insert(operations.end(), std::begin(all), std::end(all));
  return operations;
}

}  // namespace fq::test
