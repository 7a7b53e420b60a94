// forgotten_ends_test - how a message ended is not known any more, while others came after it.

// System.
#include <memory>
#include <vector>
// Tests.
#include "tests/redis/fixture.h"

namespace fq::test {

namespace {

MessageId push_behind(Queue& queue, std::vector<MessageId> after = {}) {
  NewMessage message{.tenant = "t"};
  message.after = std::move(after);
  return answered(queue.push({&message, 1})).items.at(0).id;
}

void end_next(Queue& queue, Verdict verdict) {
  const LeaseReply leased = answered(queue.lease({}));
  REQUIRE(leased.deliveries.size() == 1);
  const Settle settle{.receipt = leased.deliveries[0].receipt, .verdict = verdict};
  REQUIRE(answered(queue.settle({&settle, 1})).items.at(0) == SettleStatus::ok);
}

}  // namespace

TEST_CASE("what came after an acked message that nobody knows any more is held again by a kick") {
  TestServer server;
  FakeClock clock;
  const std::unique_ptr<Queue> queue = open_on(told_time_engine(), server.spool(), &clock);
  const bool acked = GENERATE(true, false);
  const MessageId first = push_behind(*queue), second = push_behind(*queue);
  const MessageId last = push_behind(*queue, {first, second});
  if (acked) end_next(*queue, Verdict::ack);
  if (!acked) CHECK(answered(queue->mutate({&first, 1}, Action::cancel)).changed == 1);
  end_next(*queue, Verdict::bury);
  REQUIRE(answered(queue->get(last))->state == State::dead);
  REQUIRE(command(server, {"DEL", "fq1:fq:{default:0:0}:o"}).number == 1);
  REQUIRE_FALSE(answered(queue->get(first)));
  CHECK(answered(queue->mutate({&second, 1}, Action::kick)).changed == 1);
  CHECK(answered(queue->get(last))->state == (acked ? State::held : State::dead));
}

}  // namespace fq::test
