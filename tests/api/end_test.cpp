// end_test - waiting for messages to end, for an idle queue, and what jobs wrote.
#include "tests/api/contract.h"

// System.
#include <thread>

namespace fq::test {

namespace {

/// Without waiting.
EndStatus look(QueueFixture& q, std::vector<MessageId> ids) {
  EndRequest request;
  request.ids = ids;
  request.wait_ms = 0;
  return q.door().await_end(request).value();
}

bool is_idle(QueueFixture& q) {
  EndRequest request;
  request.until_idle = true;
  request.wait_ms = 0;
  return q.door().await_end(request).value() == EndStatus::ended;
}

SettleStatus settle_with(QueueFixture& q, const Delivery& d, Verdict verdict, const JobOutput& output) {
  Settle item;
  item.receipt = d.receipt;
  item.verdict = verdict;
  item.output = &output;
  return q.door().settle({&item, 1}).value().items.at(0);
}

}  // namespace

TEST_CASE("a message has ended when it is acked, dead or cancelled, and not before") {
  ON_EVERY_ENGINE(q);
  const MessageId acked = q.push("t", "acked");
  const MessageId dead = q.push("t", "dead");
  const MessageId cancelled = q.push("t", "cancelled");
  const MessageId delayed = q.push("t", "delayed", {.delay_ms = 5'000});
  for (const MessageId id : {acked, dead, cancelled, delayed}) CHECK(look(q, {id}) == EndStatus::timed_out);
  const Delivery first = q.lease(), second = q.lease();
  CHECK(look(q, {acked}) == EndStatus::timed_out);
  q.ack(first);
  q.bury(second);
  q.mutate({cancelled}, Action::cancel);
  for (const MessageId id : {acked, dead, cancelled}) CHECK(look(q, {id}) == EndStatus::ended);
  CHECK(look(q, {acked, dead, cancelled}) == EndStatus::ended);
  CHECK(look(q, {acked, delayed, cancelled}) == EndStatus::timed_out);
  q.mutate({dead}, Action::kick);
  CHECK(look(q, {dead}) == EndStatus::timed_out);
}

TEST_CASE("many messages have ended when the last of them has, whatever the order") {
  ON_EVERY_ENGINE(q);
  std::vector<MessageId> ids;
  for (int i = 0; i < 600; ++i) ids.push_back(q.push("t", "m", {.delay_ms = 3'600'000}));
  std::vector<MessageId> backwards(ids.rbegin(), ids.rend());
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i % 100 == 0 || i == ids.size() - 1) {
      CHECK(look(q, ids) == EndStatus::timed_out);
      CHECK(look(q, backwards) == EndStatus::timed_out);
    }
    q.mutate({ids[i]}, Action::cancel);
  }
  CHECK(look(q, ids) == EndStatus::ended);
  CHECK(look(q, backwards) == EndStatus::ended);
}

TEST_CASE("who is not known has ended, and so have none at all") {
  ON_EVERY_ENGINE(q);
  CHECK(look(q, {}) == EndStatus::ended);
  CHECK(look(q, {MessageId{4'711}}) == EndStatus::ended);
  const MessageId id = q.push("t", "only");
  CHECK(look(q, {MessageId{4'711}}) == EndStatus::ended);
  CHECK(look(q, {MessageId{4'711}, id}) == EndStatus::timed_out);
}

TEST_CASE("how each has ended is told, also while others are waited for") {
  ON_EVERY_ENGINE(q);
  const MessageId acked = q.push("t", "acked"), dead = q.push("t", "dead");
  const MessageId open = q.push("t", "open"), cancelled = q.push("t", "cancelled");
  CHECK(q.ack(q.lease()) == SettleStatus::ok);
  CHECK(q.bury(q.lease()) == SettleStatus::ok);
  CHECK(q.mutate({cancelled}, Action::cancel).changed == 1);
  const std::vector<MessageId> ids = {acked, dead, open, MessageId{4'711}, cancelled};
  std::vector<std::optional<State>> ends(ids.size());
  EndRequest request{.ids = ids, .ends = ends};
  request.wait_ms = 0;
  using Ends = std::vector<std::optional<State>>;
  CHECK(q.door().await_end(request).value() == EndStatus::timed_out);
  CHECK(ends == Ends{State::acked, State::dead, {}, {}, State::cancelled});
  // It has ended all the same.
  CHECK(q.mutate({dead}, Action::kick).changed == 1);
  CHECK(q.mutate({open}, Action::cancel).changed == 1);
  CHECK(q.door().await_end(request).value() == EndStatus::ended);
  CHECK(ends == Ends{State::acked, State::dead, State::cancelled, {}, State::cancelled});
}

TEST_CASE("a lease that runs out on the last attempt ends its message") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "only", {.attempts_max = 1});
  q.lease();
  CHECK(look(q, {id}) == EndStatus::timed_out);
  q.clock().advance(60'001);
  CHECK(look(q, {id}) == EndStatus::ended);
}

TEST_CASE("a queue is idle when nothing is ready or leased") {
  ON_EVERY_ENGINE(q);
  CHECK(is_idle(q));
  q.push("t", "only");
  CHECK_FALSE(is_idle(q));
  const Delivery d = q.lease();
  CHECK_FALSE(is_idle(q));
  q.bury(d);
  CHECK(is_idle(q));
}

TEST_CASE("what is paused keeps nobody who waits until the queue is idle") {
  ON_EVERY_ENGINE(q);
  LeaseRequest drain = timed_lease();
  drain.wait = drain.until_idle = true;
  drain.wait_ms = 0;
  const auto pause = [&](const std::string& path, bool pauses) {
    const PolicyPatch patch = pauses ? PolicyPatch{{{PolicyKey::paused, 1, 0, {}}}, {}}
                                     : PolicyPatch{{}, {PolicyKey::paused}};
    REQUIRE(q.door().policy_set(path, patch).ok());
  };
  const auto check = [&](bool idle) {
    CHECK(is_idle(q) == idle);
    CHECK((q.lease_all(drain).why_empty == WhyEmpty::idle) == idle);
  };
  pause("a/x", true);
  pause("c", true);
  q.push("a/x", "1");
  q.push("c/y/z", "2");
  check(true);
  const Delivery served = (q.push("b", "3"), q.lease());
  check(false);
  q.release(served);
  CHECK_FALSE(is_idle(q));
  pause("", true);
  check(true);
  pause("b", true);
  pause("", false);
  check(true);
  pause("a", true);
  pause("a/x", false);
  check(true);
  pause("a", false);
  CHECK_FALSE(is_idle(q));
  CHECK(q.lease().tenant == "a/x");
}

TEST_CASE("what time alone keeps from its turn keeps a queue busy, but where it is paused") {
  ON_EVERY_ENGINE(q);
  const std::string limited = GENERATE(std::string("a"), std::string("a/x"));
  q.set(limited, PolicyKey::rate, 1, 60'000);
  q.push_many("a/x", 2);
  q.push("b", "paused");
  q.set("b", PolicyKey::paused, 1);
  CHECK_FALSE(is_idle(q));
  q.ack(q.lease());
  CHECK_FALSE(is_idle(q));
  q.set("a", PolicyKey::paused, 1);
  CHECK(is_idle(q));
  REQUIRE(q.door().policy_set("a", {{}, {PolicyKey::paused}}).ok());
  CHECK_FALSE(is_idle(q));
  q.clock().advance(60'000);
  q.ack(q.lease());
  CHECK(is_idle(q));
}

TEST_CASE("what was delayed by its push does not keep a queue busy until it is due") {
  ON_EVERY_ENGINE(q);
  q.push("t", "later", {.delay_ms = 5'000});
  CHECK(is_idle(q));
  q.clock().advance(5'001);
  CHECK_FALSE(is_idle(q));
}

TEST_CASE("what is on its way back keeps a queue busy") {
  ON_EVERY_ENGINE(q);
  for (const bool counted : {false, true}) {
    const MessageId id = q.push("t", "back");
    const Delivery d = q.lease();
    counted ? q.retry(d, 5'000) : q.release(d, 5'000);
    CHECK_FALSE(is_idle(q));
    q.mutate({id}, Action::cancel);
    CHECK(is_idle(q));
  }
}

TEST_CASE("waiting for an end ends with it, or with its time, or when it is interrupted", "[threads]") {
  ON_EVERY_ENGINE_WITH(q, Time::real);
  const std::unique_ptr<Queue> other = q.another_handle();
  const MessageId id = q.push("t", "only");
  EndRequest request;
  request.ids = {&id, 1};
  request.wait_ms = 30;
  const int64_t start_ms = system_clock().boot_ms();
  CHECK(q.door().await_end(request).value() == EndStatus::timed_out);
  CHECK(system_clock().boot_ms() - start_ms >= 29);
  Interrupt interrupt;
  request.interrupt = &interrupt;
  request.wait_ms = 20'000;
  const auto during = [&](const std::function<void()>& what) {
    std::thread thread([&] {
      let_the_other_wait();
      what();
    });
    const EndStatus status = q.door().await_end(request).value();
    thread.join();
    return status;
  };
  CHECK(during([&] { interrupt.raise(); }) == EndStatus::interrupted);
  interrupt.lower();
  CHECK(during([&] { static_cast<void>(other->mutate(std::vector{id}, Action::cancel)); }) ==
        EndStatus::ended);
}

TEST_CASE("an output is kept with an ack and with a bury, and no longer than asked") {
  ON_EVERY_ENGINE(q);
  for (const Verdict verdict : {Verdict::ack, Verdict::bury}) {
    const MessageId id = q.push("t", "only");
    CHECK_FALSE(q.door().output(id).value());
    const JobOutput output{std::string("out\0\xff", 5), "err\n", 10'000};
    CHECK(settle_with(q, q.lease(), verdict, output) == SettleStatus::ok);
    q.clock().advance(4'000);
    const std::optional<JobOutput> kept = q.door().output(id).value();
    REQUIRE(kept);
    CHECK(kept->out == output.out);
    CHECK(kept->err == output.err);
    CHECK(kept->keep_ms == 6'000);
    q.clock().advance(6'000);
    CHECK_FALSE(q.door().output(id).value());
  }
}

TEST_CASE("an output that is to be kept for no time is none") {
  ON_EVERY_ENGINE(q);
  for (const int64_t keep_ms : {int64_t{0}, int64_t{-1}, int64_t{-100'000}, INT64_MIN}) {
    const MessageId id = q.push("t", "only");
    CHECK(settle_with(q, q.lease(), Verdict::ack, {"out", "err", keep_ms}) == SettleStatus::ok);
    CHECK_FALSE(q.door().output(id).value());
  }
  const auto report = q.door().check();
  REQUIRE(report.ok());
  CHECK(report->findings.empty());
}

TEST_CASE("who asks how messages ended has a place for each") {
  ON_EVERY_ENGINE(q);
  const MessageId ids[] = {q.push("t", "a"), q.push("t", "b")};
  std::optional<State> end;
  const auto told = q.door().await_end({.ids = ids, .ends = {&end, 1}, .wait_ms = 0});
  REQUIRE_FALSE(told.ok());
  CHECK(told.error().kind == ErrorKind::usage);
}

TEST_CASE("an empty output is one, and a message without one has none") {
  ON_EVERY_ENGINE(q);
  const MessageId empty = q.push("t", "empty");
  const MessageId none = q.push("t", "none");
  CHECK(settle_with(q, q.lease(), Verdict::ack, {"", "", 1'000}) == SettleStatus::ok);
  CHECK(q.ack(q.lease()) == SettleStatus::ok);
  REQUIRE(q.door().output(empty).value());
  CHECK(q.door().output(empty).value()->out == "");
  CHECK_FALSE(q.door().output(none).value());
  CHECK_FALSE(q.door().output(MessageId{4'711}).value());
}

TEST_CASE("a later output of the same message takes the place of the earlier one") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "only");
  CHECK(settle_with(q, q.lease(), Verdict::bury, {"first", "", 10'000}) == SettleStatus::ok);
  q.mutate({id}, Action::kick);
  CHECK(settle_with(q, q.lease(), Verdict::ack, {"second", "", 10'000}) == SettleStatus::ok);
  CHECK(q.door().output(id).value()->out == "second");
}

}  // namespace fq::test
