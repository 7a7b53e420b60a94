// step_pauses_test - steps that take time: what a message is while its job sleeps or waits, and what the next
// run is told.
#include "tests/api/steps_scene.h"

namespace fq::test {

TEST_CASE("a job that sleeps gives its message back, without an attempt, and has slept when it runs again") {
  WHERE_STEPS_ARE(q);
  const MessageId id = q.push("t", "m", {.attempts_max = 1});
  const Delivery first = q.lease();
  const StepPause asleep = steps(q).sleep(first.receipt, "nap", 10'000, 0).value();
  CHECK(asleep.receipt == SettleStatus::ok);
  CHECK_FALSE(asleep.over);
  CHECK(q.get(id).state == State::delayed);
  CHECK(is_refused(steps(q).sleep(first.receipt, "nap", 10'000, 0).value().receipt));
  CHECK(is_refused(q.ack(first)));
  CHECK(q.served() == "");
  q.clock().advance(10'000);
  const Delivery second = q.lease();
  CHECK(second.attempt == 1);
  CHECK(steps(q).sleep(second.receipt, "nap", 10'000, 0).value().over);
  CHECK(begin(q, second, "nap") == "usage");
  CHECK(steps(q).sleep(second.receipt, "past", std::nullopt, q.clock().wall_ms() - 1).value().over);
  q.ack(second);
  CHECK(q.get(id).state == State::acked);
}

TEST_CASE("what a job that sleeps ends with is no verdict, and no attempt") {
  WHERE_STEPS_ARE(q);
  q.needs_one_account();
  const Verdict verdict = GENERATE(Verdict::ack, Verdict::retry, Verdict::bury, Verdict::release);
  const MessageId id = q.push("t", "m", {.attempts_max = 1});
  LeaseRequest by_process;
  const LeaseReply reply = q.lease_all(by_process);
  REQUIRE(reply.deliveries.size() == 1);
  const Delivery& job = reply.deliveries[0];
  REQUIRE_FALSE(steps(q).sleep(job.receipt, "nap", 10'000, 0).value().over);
  CHECK(q.get(id).state == State::leased);
  // It does no steps in its sleep.
  CHECK(begin(q, job, "late") == "stale");
  CHECK(is_refused(keep(q, job, "late", "x")));
  CHECK(is_refused(steps(q).push(job.receipt, "late", message_of(q.path("c"), "child", {})).value().receipt));
  CHECK(is_refused(steps(q).wait(job.receipt, "late", std::nullopt).value().receipt));
  CHECK(names(q, id) == "nap ");
  q.clock().advance(20'000);
  CHECK(q.served() == "");  // the job that slept is still there
  CHECK(q.settle(job.receipt, verdict) == SettleStatus::slept);
  CHECK(q.get(id).state == State::ready);
  CHECK(q.get(id).attempts == 0);
  CHECK(q.events(id) == "pushed leased released");
  CHECK(steps(q).sleep(q.lease().receipt, "nap", 10'000, 0).value().over);
}

TEST_CASE("a job waits until messages have ended, and is told how, in each later run") {
  WHERE_STEPS_ARE(q);
  q.needs_one_account();
  const MessageId parent = q.push("p", "parent");
  const MessageId one = q.push("c", "one"), two = q.push("d", "two");
  const bool all_acked = GENERATE(true, false);
  const MessageId ids[] = {one, two};
  const Delivery first = q.lease();
  REQUIRE(first.id == parent);
  CHECK_FALSE(steps(q).wait(first.receipt, "both", ids).value().over);
  CHECK(q.get(parent).state == State::held);
  CHECK(q.pop(1) == "one");
  CHECK(q.get(parent).state == State::held);
  if (all_acked) CHECK(q.pop(1) == "two");
  if (!all_acked) q.mutate({two}, Action::cancel);
  const Delivery second = q.lease();
  REQUIRE(second.id == parent);
  const StepPause over = steps(q).wait(second.receipt, "both", ids).value();
  CHECK(over.over);
  CHECK(over.all_acked == all_acked);
  q.retry(second);
  const StepPause again = steps(q).wait(q.lease().receipt, "both", ids).value();
  CHECK(again.over);
  CHECK(again.all_acked == all_acked);
  const Result<CheckReport> report = q.door().check();
  CHECK((report.ok() && report->findings.empty()));
}

TEST_CASE(
    "a job that has waited is told how all have ended by then: one that was kicked meanwhile was acked") {
  WHERE_STEPS_ARE(q);
  q.needs_one_account();
  const MessageId parent = q.push("p", "parent"), one = q.push("c", "one");
  const Delivery first = q.lease();
  REQUIRE(first.id == parent);
  CHECK_FALSE(steps(q).wait(first.receipt, "one", std::span(&one, 1)).value().over);
  q.bury(q.lease());
  CHECK(q.get(parent).state == State::ready);
  CHECK(q.mutate({one}, Action::kick).changed == 1);
  q.ack(q.lease("c"));
  const StepPause over = steps(q).wait(q.lease().receipt, "one", std::span(&one, 1)).value();
  CHECK(over.over);
  CHECK(over.all_acked);
}

TEST_CASE("that one was not acked is told by the wait for it, and by no other one") {
  WHERE_STEPS_ARE(q);
  q.needs_one_account();
  q.push("p", "parent");
  const MessageId good = q.push("c", "good"), bad = q.push("c", "bad");
  CHECK_FALSE(steps(q).wait(q.lease("p").receipt, "good", std::span(&good, 1)).value().over);
  q.ack(q.lease("c"));
  CHECK_FALSE(steps(q).wait(q.lease("p").receipt, "bad", std::span(&bad, 1)).value().over);
  q.mutate({bad}, Action::cancel);
  const Delivery last = q.lease("p");
  CHECK(steps(q).wait(last.receipt, "good", std::span(&good, 1)).value().all_acked);
  CHECK_FALSE(steps(q).wait(last.receipt, "bad", std::span(&bad, 1)).value().all_acked);
}

TEST_CASE("a job waits for all that its steps have pushed, however many") {
  WHERE_STEPS_ARE(q);
  q.needs_one_account();
  const size_t count = GENERATE(size_t{0}, size_t{1}, size_t{150});
  const MessageId parent = q.push("p", "parent");
  const Delivery first = q.lease();
  const NewMessage child = message_of(q.path("c"), "c", {});
  for (size_t i = 0; i < count; ++i)
    REQUIRE(steps(q).push(first.receipt, "c" + std::to_string(i), child).value().receipt == SettleStatus::ok);
  Receipt receipt = first.receipt;
  for (size_t runs = 0; !steps(q).wait(receipt, "all", std::nullopt).value().over; ++runs) {
    REQUIRE(runs <= count);
    Delivery next = q.lease();
    for (; next.id != parent; next = q.lease()) q.ack(next);
    receipt = next.receipt;
  }
  CHECK(q.served() == "");
  const StepPause over = steps(q).wait(receipt, "all", std::nullopt).value();
  CHECK((over.over && over.all_acked));
}

TEST_CASE("what has ended is not waited for; what is unknown, or the message itself, is refused") {
  WHERE_STEPS_ARE(q);
  const MessageId acked = q.push("t", "acked"), gone = q.push("t", "gone"), own = q.push("t", "own");
  q.pop(1);
  q.mutate({gone}, Action::cancel);
  const Delivery job = q.lease();
  const MessageId both[] = {acked, gone};
  CHECK(steps(q).wait(job.receipt, "acked", std::span(both).first(1)).value().all_acked);
  const StepPause over = steps(q).wait(job.receipt, "both", both).value();
  CHECK((over.over && !over.all_acked));
  const MessageId unknown[] = {MessageId{number(own) + 1024}};  // of its own shard, where there are several
  CHECK(steps(q).wait(job.receipt, "u", unknown).error().kind == ErrorKind::missing);
  CHECK(steps(q).wait(job.receipt, "o", std::span(&own, 1)).error().kind == ErrorKind::usage);
  CHECK(names(q, own) == "acked both ");
}

TEST_CASE("what was moved to another queue is not waited for, alone or beside another, and nothing is kept of that") {
  WHERE_STEPS_ARE(q);
  const std::unique_ptr<Queue> other = q.other_queue();
  if (!other) return;
  q.push("t", "own");
  const Delivery job = q.lease();
  const MessageId ids[] = {q.push("t", "unfinished"), q.push("t", "moved")};
  REQUIRE(q.door().move(std::span(ids).last(1), {"other", ""}).value().items.at(0).what ==
          MoveResult::What::moved);
  for (const size_t count : {size_t{1}, size_t{2}}) {
    const Result<StepPause> refused = steps(q).wait(job.receipt, "w", std::span(ids).last(count));
    REQUIRE(!refused.ok());
    CHECK(refused.error().kind == ErrorKind::missing);
  }
  CHECK(names(q, job.id) == "");
  CHECK_FALSE(steps(q).wait(job.receipt, "w", std::span(ids).first(1)).value().over);
}

}  // namespace fq::test
