// group_operations - what groups and dead letters add to the table of operations.
#include "tests/crash/operations.h"

namespace fq::test {

namespace {

/// Two tenants with two messages each.
void two_each(Trial& t) {
  for (const char* payload : {"a1", "a2"}) t.spool.push(payload, "a");
  for (const char* payload : {"b1", "b2"}) t.spool.push(payload, "b");
  t.must = {"a1", "a2", "b1", "b2"};
}

void pop_grouped(Trial& t) {
  two_each(t);
  t.words = {"pop", "--grouped", "--max", "3"};
  t.must.clear();
  t.may = {"a1", "a2", "b1", "b2"};
}
/// What gathers is served when its time is over; who dies finding that out leaves it to the next.
void pop_gathered(Trial& t) {
  t.spool.says({"queue", "create"});
  t.spool.says({"queue", "set", "linger=200ms"});
  two_each(t);
  ::usleep(210'000);  // the windows have to be over: the pop to be killed is what finds it so
  t.words = {"pop", "--grouped", "--lease", "1h"};
}
/// What holds for the whole queue is followed by its tenants.
void set_linger(Trial& t) {
  two_each(t);
  t.words = {"queue", "set", "linger=1ms", "batch=2"};
}
void drop_dead(Trial& t) {
  two_each(t);
  t.spool.says({"bury", t.spool.lease()});
  t.spool.says({"queue", "set", "dead_retention=1ms"});
  t.must.erase("a1");
  t.may = {"a1"};
  ::usleep(3'000);  // likewise of the dead letter
  t.words = {"peek"};
}

}  // namespace

std::vector<Operation> with_groups(std::vector<Operation> operations) {
  const Operation groups[] = {
      {"pop_grouped",
       pop_grouped,
       {"attach.shared", "holder.begun", "lease.appended", "lease.committed", "event.appended",
        "event.committed", "settle.durable", "flush.applied", "flush.servable", "flush.syncing",
        "flush.synced", "flush.taken", "flush.unlocked", "flush.written"}},
      {"pop_gathered",
       pop_gathered,
       {"attach.shared", "timers.fired", "lease.appended", "lease.committed", "flush.written"}},
      {"set_linger",
       set_linger,
       {"attach.shared", "policy.appended", "timers.fired", "flush.applied", "flush.servable",
        "flush.syncing", "flush.synced", "flush.taken", "flush.unlocked", "flush.written"}},
      {"drop_dead", drop_dead, {"attach.shared", "event.appended", "event.committed", "flush.written"}},
  };
  operations.insert(operations.end(), std::begin(groups), std::end(groups));
  return operations;
}

}  // namespace fq::test
