// step_workloads - the stories of steps and schedules whose every crash state is recovered.
#include "tests/crash/crash_states.h"
// Tests.
#include "tests/process/late_clock.h"

namespace fq::test {

namespace {

/// Two messages at rest, the first at work.
std::string at_work(Story& s) {
  s.push("one");
  s.push("two");
  const std::string receipt = s.lease();
  s.from_here();
  return receipt;
}

void step(Story& s) {
  const std::string receipt = at_work(s);
  s.step(receipt, "one", {"a", "--", "echo", "a was done"});
  s.push("three");
}
void two_steps(Story& s) {
  const std::string receipt = at_work(s);
  s.step(receipt, "one", {"a", "--", "echo", "a was done"});
  s.step(receipt, "one", {"b", "--", "echo", "b was done"});
}
void step_told_again(Story& s) {
  const std::string receipt = at_work(s);
  s.step(receipt, "one", {"a", "--", "echo", "a was done"});
  s.step(receipt, "one", {"a", "--", "echo", "anything else"});
}
void step_behind_lazy(Story& s) {
  const std::string receipt = at_work(s);
  s.push("lazy", {"--lazy"});
  s.step(receipt, "one", {"a", "--", "echo", "a was done"});
}
/// Its output lies in blobs/.
void long_step(Story& s) {
  const std::string receipt = at_work(s);
  s.step(receipt, "one", {"a", "--shell", "head -c 100000 /dev/zero | tr '\\0' x; echo"});
  s.push("three");
}
void step_and_ack(Story& s) {
  const std::string receipt = at_work(s);
  s.step(receipt, "one", {"a", "--", "echo", "a was done"});
  s.ack(receipt, "one");
}
void step_with_failed_sync(Story& s) {
  const std::string receipt = at_work(s);
  s.step(receipt, "one", {"a", "--", "echo", "a was done"}, {.failed_sync = 1});
  s.push("three");
}
void step_killed(Story& s, int call) {
  const std::string receipt = at_work(s);
  s.step(receipt, "one", {"a", "--shell", "head -c 70000 /dev/zero | tr '\\0' x; echo"}, {.killed_at = call});
  s.push("three");
}
void child(Story& s) {
  const std::string receipt = at_work(s);
  s.push_in_step(receipt, "one", "a", "child");
  s.push("three");
}
void child_awaited(Story& s) {
  const std::string receipt = at_work(s);
  s.push_in_step(receipt, "one", "a", "child");
  s.pause(receipt, "one", {"b", "--wait-all"}, State::held);
}
void slept(Story& s) {
  const std::string receipt = at_work(s);
  s.pause(receipt, "one", {"a", "--sleep", "1h"}, State::delayed);
  s.push("three");
}
/// For the first message, which is not served meanwhile.
void waited(Story& s) {
  s.push("late", {"--delay", "1h"});
  const std::string receipt = at_work(s);
  s.pause(receipt, "one", {"a", "--wait", "1"}, State::held);
  s.push("three");
}

constexpr const char* kImportedAt = "2026-01-01T00:00:00Z";

std::string imported_step(int id, const std::string& name, const std::string& output) {
  return R"({"type":"step","kind":"run","at":")" + std::string(kImportedAt) + R"(","id":)" +
         std::to_string(id) + R"(,"name":")" + name + R"(","output":")" + output + "\"}\n";
}
std::string imported(int id, const std::string& payload, int steps, const std::string& more) {
  return R"({"type":"message","tenant":"t","pushed_at":")" + std::string(kImportedAt) + R"(","id":)" +
         std::to_string(id) + R"(,"payload":")" + payload + R"(","steps":)" + std::to_string(steps) + "," +
         more + "}\n";
}

/// One that is ready, one that is held and one that is dead, the first two with what their jobs have done.
void imports(Story& s, int calls) {
  s.push("one");
  s.from_here();
  const std::string long_output(70'000, 'x');
  const std::string since = R"("since":")" + std::string(kImportedAt) + "\"";
  const std::string lines = R"({"type":"export","format":1,"origin":"elsewhere"})"
                            "\n" +
                            imported_step(1, "a", "a was done") + imported_step(1, "b", long_output) +
                            imported(1, "ready", 2, R"("state":"ready",)" + since) +
                            imported_step(2, "a", "a was done") + imported_step(2, "b", "b was done") +
                            imported(2, "held", 2, R"("state":"held","after_any":[1])") +
                            imported(3, "dead", 0, R"("state":"dead",)" + since) +
                            R"({"type":"end","messages":3})"
                            "\n";
  s.comes_with_step("ready", "a", "a was done");
  s.comes_with_step("ready", "b", long_output);
  s.comes_with_step("held", "a", "a was done");
  s.comes_with_step("held", "b", "b was done");
  const Story::Words payloads = {"ready", "held", "dead"};
  if (calls != 0) s.import(lines, payloads, {.killed_at = calls});
  s.import(lines, payloads);
  s.push("two");
}

void story_of_schedule(Story& s) {
  s.push("one");
  s.from_here();
  s.set_schedule("hourly", "tick");
  s.push("two");
}
void schedule_removed(Story& s) {
  s.push("one");
  s.set_schedule("hourly", "tick");
  s.from_here();
  s.remove_schedule("hourly");
  s.push("two");
}
void story_of_due_time(Story& s) {
  s.push("one");
  LateClock clock(61 * kBehindMinuteMs);
  set_late(*open_behind(s.spool(), clock), "tick");
  s.is_due("tick");
  s.from_here();
  s.push("two");
  s.push("three");
}
/// The one before is unfinished when the next time has come: that makes none.
void schedule_skips(Story& s) {
  s.push("one");
  LateClock first(121 * kBehindMinuteMs), second(61 * kBehindMinuteMs);
  set_late(*open_behind(s.spool(), first), "tick");
  s.is_due("tick");
  REQUIRE(open_behind(s.spool(), second)->maintain(0).ok());
  s.from_here();
  s.push("two");
}

}  // namespace

std::vector<Workload> with_steps(std::vector<Workload> all) {
  const Workload more[] = {
      {"step, push", step},
      {"step, step", two_steps},
      {"step, step of the same name", step_told_again},
      {"lazy push, step", step_behind_lazy},
      {"step with a long output, push", long_step},
      {"step, ack", step_and_ack},
      {"step with failed sync, push", step_with_failed_sync},
      {"push in a step, push", child},
      {"push in a step, wait for it", child_awaited},
      {"sleep in a step, push", slept},
      {"wait in a step, push", waited},
      {"import, push", [](Story& s) { imports(s, 0); }},
      {"schedule set, push", story_of_schedule},
      {"schedule removed, push", schedule_removed},
      {"schedule due, push, push", story_of_due_time},
      {"schedule skips, push", schedule_skips},
  };
  all.insert(all.end(), std::begin(more), std::end(more));
  for (int call = 1; call <= 8; ++call)
    all.push_back({"step killed at change " + std::to_string(call), [=](Story& s) { step_killed(s, call); }});
  for (const int call : {3, 6, 9})
    all.push_back({"import killed at change " + std::to_string(call) + ", import",
                   [=](Story& s) { imports(s, call); }});
  return all;
}

}  // namespace fq::test
