// forgotten_ends_test - how a message ended is not known any more, while others came after it.

// System.
#include <memory>
#include <utility>
#include <vector>
// Tests.
#include "tests/redis/fixture.h"

namespace fq::test {

namespace {

/// A queue that may forget how messages ended.
struct Forgetful {
  FakeClock clock;
  TestServer server;
  std::unique_ptr<Queue> queue = open_on(told_time_engine(), server.spool(), &clock);

  MessageId push(std::string_view tenant, std::vector<MessageId> after = {}) {
    NewMessage message{.tenant = tenant};
    message.after = std::move(after);
    return answered(queue->push({&message, 1})).items.at(0).id;
  }
  Delivery lease(std::string_view tenant, Hold hold = Hold::duration) {
    LeaseRequest request = for_a_minute();
    request.tenant = tenant;
    request.hold = hold;
    return std::move(answered(queue->lease(request)).deliveries.at(0));
  }
  void settle(const Delivery& job, Verdict verdict) {
    const Settle settle{.receipt = job.receipt, .verdict = verdict};
    answered(queue->settle({&settle, 1}));
  }
  void end(std::string_view tenant, Verdict verdict) { settle(lease(tenant), verdict); }
  void mutate(MessageId id, Action action) {
    REQUIRE(answered(queue->mutate({&id, 1}, action)).changed == 1);
  }
  State state(MessageId id) { return answered(queue->get(id))->state; }
  void forget(MessageId ended) {
    REQUIRE(command(server, {"DEL", "fq1:fq:{default:0:0}:o"}).number == 1);
    REQUIRE_FALSE(answered(queue->get(ended)));
  }
};

}  // namespace

TEST_CASE("what came after an acked message that nobody knows any more is held again by a kick") {
  Forgetful q;
  enum class How { acked_first, acked_last, cancelled };
  const How how = GENERATE(How::acked_first, How::acked_last, How::cancelled);
  CAPTURE(static_cast<int>(how));
  const MessageId first = q.push("a"), second = q.push("b");
  const MessageId last = q.push("c", {first, second});
  if (how == How::acked_first) q.end("a", Verdict::ack);
  if (how == How::cancelled) q.mutate(first, Action::cancel);
  q.end("b", Verdict::bury);
  REQUIRE(q.state(last) == State::dead);
  if (how == How::acked_last) q.end("a", Verdict::ack);
  q.forget(first);
  q.mutate(second, Action::kick);
  CHECK(q.state(last) == (how == How::cancelled ? State::dead : State::held));
}

TEST_CASE("a job is told how one ended that it waited for when nobody knows that any more") {
  Forgetful q;
  enum class How { acked, cancelled, dead_and_cancelled, kicked_and_acked };
  const How how = GENERATE(How::acked, How::cancelled, How::dead_and_cancelled, How::kicked_and_acked);
  const bool while_awake = GENERATE(false, true), is_last = GENERATE(false, true);
  CAPTURE(static_cast<int>(how), while_awake, is_last);
  const MessageId parent = q.push("p"), first = q.push("a"), second = q.push("b");
  const MessageId both[] = {first, second};
  const auto end_first = [&] {
    if (how == How::acked) q.end("a", Verdict::ack);
    if (how == How::cancelled) q.mutate(first, Action::cancel);
    if (how == How::dead_and_cancelled || how == How::kicked_and_acked) q.end("a", Verdict::bury);
  };
  const auto end_it_again = [&] {
    if (how == How::dead_and_cancelled) q.mutate(first, Action::cancel);
    if (how == How::kicked_and_acked) q.mutate(first, Action::kick), q.end("a", Verdict::ack);
  };
  const Delivery job = q.lease("p", while_awake ? Hold::process : Hold::duration);
  REQUIRE_FALSE(answered(q.queue->steps()->wait(job.receipt, "w", both)).over);
  if (is_last) q.end("b", Verdict::ack);
  if (while_awake && !is_last) {
    end_first();
    q.settle(job, Verdict::ack);
    CHECK(q.state(parent) == State::held);
  } else {
    if (while_awake) q.settle(job, Verdict::ack);
    CHECK(q.state(parent) == State::held);
    end_first();
  }
  end_it_again();
  q.forget(first);
  if (!is_last) q.end("b", Verdict::ack);
  for (const bool again : {false, true}) {
    CAPTURE(again);
    const Delivery next = q.lease("p");
    const StepPause pause = answered(q.queue->steps()->wait(next.receipt, "w", both));
    CHECK(pause.over);
    // Where it was let go while that one was dead, nobody told it of the ack.
    CHECK(pause.all_acked == (how == How::acked || (how == How::kicked_and_acked && !is_last)));
    q.settle(next, Verdict::release);
  }
  CHECK(command(q.server, {"KEYS", "*:y:*"}).items.empty());
  CHECK(answered(q.queue->check()).findings.empty());
}

TEST_CASE("how one ended that a step waited for is told by an export when nobody knows that any more") {
  Forgetful q;
  const MessageId parent = q.push("p"), first = q.push("a");
  const bool acked = GENERATE(true, false);
  REQUIRE_FALSE(answered(q.queue->steps()->wait(q.lease("p").receipt, "w", std::span(&first, 1))).over);
  if (acked) q.end("a", Verdict::ack);
  if (!acked) q.mutate(first, Action::cancel);
  q.forget(first);
  const ExportedMessage told = answered(q.queue->exported(parent)).value();
  CHECK(told.wait_failed == !acked);
  CHECK(told.steps.at(0).failed == !acked);
}

}  // namespace fq::test
