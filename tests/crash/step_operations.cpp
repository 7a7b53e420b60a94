// step_operations - steps that are kept, for the table of what is killed at every instruction.
#include "tests/crash/door_operations.h"

namespace fq::test {

namespace {

void to_keep(Scene& s) {
  const std::unique_ptr<Queue> queue = s.open();
  s.push(*queue, {{"a1", "a"}, {"b1", "b"}});
  LeaseRequest request;
  request.hold = Hold::duration;
  request.hold_ms = 3'600'000;
  s.receipts = {s.lease(*queue, request).at(0).receipt.text()};
  s.withheld = {"a1"};
}
void to_keep_again(Scene& s) {
  to_keep(s);
  REQUIRE(s.open()->steps()->keep({s.receipts[0]}, "s", as_bytes("before")).value() == SettleStatus::ok);
}
void keep_step(Scene& s) {
  s.act([&](Queue& queue) {
    const Result<SettleStatus> kept = queue.steps()->keep({s.receipts[0]}, "s", as_bytes("output"));
    return kept.ok() && *kept == SettleStatus::ok;
  });
}

}  // namespace

std::vector<DoorOperation> with_steps(std::vector<DoorOperation> operations) {
  const DoorOperation all[] = {{"a step is kept", to_keep, keep_step},
                               {"a step is kept anew", to_keep_again, keep_step, Short::nothing}};
  operations.insert(operations.end(), std::begin(all), std::end(all));
  return operations;
}

}  // namespace fq::test
