// step_operations - steps that are kept, for the table of what is killed at every instruction.
#include "tests/crash/door_operations.h"

namespace fq::test {

namespace {

LeaseRequest timed(size_t want) {
  LeaseRequest request;
  request.want = want;
  request.hold = Hold::duration;
  request.hold_ms = 3'600'000;
  return request;
}

void to_keep(Scene& s) {
  const std::unique_ptr<Queue> queue = s.open();
  s.push(*queue, {{"a1", "a"}, {"b1", "b"}});
  s.receipts = {s.lease(*queue, timed(1))[0].receipt.text()};
  s.withheld = {"a1"};
  s.deeds[kFirst].keeps = {{"a1", "s"}};
}
void to_keep_again(Scene& s) {
  to_keep(s);
  REQUIRE(s.open()->steps()->keep({s.receipts[0]}, "s", as_bytes("before")).value() == SettleStatus::ok);
}
/// As fq step does around its command.
void run_step(Scene& s) {
  s.act([&](Queue& queue) {
    const Receipt receipt{s.receipts[0]};
    Result<StepBegin> begun = queue.steps()->begin(receipt, "s", nullptr);
    if (!begun.ok() || begun->receipt != SettleStatus::ok) return false;
    if (begun->output) return *begun->output == "before";
    const Result<SettleStatus> kept = queue.steps()->keep(receipt, "s", as_bytes("output"));
    return kept.ok() && *kept == SettleStatus::ok;
  });
}
void keep_step(Scene& s) {
  s.act([&](Queue& queue) {
    const Result<SettleStatus> kept = queue.steps()->keep({s.receipts[0]}, "s", as_bytes("output"));
    return kept.ok() && *kept == SettleStatus::ok;
  });
}

void to_push_a_child(Scene& s) {
  to_keep(s);
  s.deeds[kFirst].adds = {"child"};
}
void push_in_step(Scene& s) {
  s.act([&](Queue& queue) {
    const NewMessage child{.tenant = "c", .payload = as_bytes(std::string_view("child"))};
    const Result<StepPush> pushed = queue.steps()->push({s.receipts[0]}, "s", child);
    return pushed.ok() && pushed->receipt == SettleStatus::ok;
  });
}
void sleep_in_step(Scene& s) {
  s.act([&](Queue& queue) {
    const Result<StepPause> slept = queue.steps()->sleep({s.receipts[0]}, "s", 3'600'000, 0);
    return slept.ok() && slept->receipt == SettleStatus::ok && !slept->over;
  });
}
/// For a message that is not served either, so that nothing ends the wait.
void to_wait(Scene& s) {
  const std::unique_ptr<Queue> queue = s.open();
  s.push(*queue, {{"a1", "a"}, {"b1", "b"}});
  s.push(*queue, {{.payload = "late", .tenant = "c", .delay_ms = 3'600'000}});
  s.receipts = {s.lease(*queue, timed(1))[0].receipt.text()};
  s.withheld = {"a1", "late"};
  s.deeds[kFirst].keeps = {{"a1", "s"}};
}
void wait_in_step(Scene& s) {
  s.act([&](Queue& queue) {
    const MessageId late{3};
    const Result<StepPause> waited = queue.steps()->wait({s.receipts[0]}, "s", std::span(&late, 1));
    return waited.ok() && waited->receipt == SettleStatus::ok && !waited->over;
  });
}

}  // namespace

std::vector<DoorOperation> with_steps(std::vector<DoorOperation> operations) {
  const DoorOperation all[] = {{"a step is run", to_keep, run_step},
                               {"a step is kept", to_keep, keep_step, Short::nothing},
                               {"a step is kept anew", to_keep_again, keep_step, Short::nothing},
                               {"a step is told", to_keep_again, run_step, Short::nothing},
                               {"a step pushes", to_push_a_child, push_in_step},
                               {"a step sleeps", to_keep, sleep_in_step, Short::nothing},
                               {"a step waits", to_wait, wait_in_step}};
  operations.insert(operations.end(), std::begin(all), std::end(all));
  return operations;
}

}  // namespace fq::test
