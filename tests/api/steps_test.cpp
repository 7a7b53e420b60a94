// steps_test - what the job of a message does once, however often the job is run.
#include "tests/api/steps_scene.h"

// System.
#include <thread>
// fq, below us.
#include "core/base/limits.h"

namespace fq::test {

TEST_CASE("a step that has run is told by what it put out, in each later run of its job") {
  WHERE_STEPS_ARE(q);
  const MessageId id = q.push("t", "m");
  const Delivery first = q.lease();
  CHECK(begin(q, first, "charge") == "run");
  CHECK(begin(q, first, "charge") == "run");  // it has failed, and left nothing
  CHECK(keep(q, first, "charge", "card 17\n") == SettleStatus::ok);
  CHECK(begin(q, first, "charge") == "kept card 17\n");
  CHECK(begin(q, first, "render") == "run");
  q.retry(first);
  const Delivery second = q.lease();
  CHECK(begin(q, second, "charge") == "kept card 17\n");
  CHECK(names(q, id) == "charge ");
  CHECK(steps(q).list(id).value()->at(0).bytes == 8);
  CHECK(steps(q).list(id).value()->at(0).kind == StepKind::run);
  CHECK(steps(q).list(id).value()->at(0).at_wall_ms == q.clock().wall_ms());
  CHECK(names(q, MessageId{number(id) + 1}) == "none");
}

TEST_CASE("messages have steps of their own, also of one name, and those of others are none of theirs") {
  WHERE_STEPS_ARE(q);
  q.push_many("t", 3);
  const LeaseReply jobs = q.lease_all(timed_lease(3));
  REQUIRE(jobs.deliveries.size() == 3);
  for (size_t i = 0; i < 3; ++i) keep(q, jobs.deliveries[i], "s", std::to_string(i));
  for (size_t i = 0; i < 3; ++i) CHECK(begin(q, jobs.deliveries[i], "s") == "kept " + std::to_string(i));
  q.ack(jobs.deliveries[1]);
  CHECK(begin(q, jobs.deliveries[2], "s") == "kept 2");
}

TEST_CASE("a step is done under a receipt that holds") {
  WHERE_STEPS_ARE(q);
  q.push("t", "m");
  const Delivery job = q.lease();
  q.retry(job);
  CHECK(begin(q, job, "s") == "stale");
  CHECK(is_refused(keep(q, job, "s", "x")));
  const Delivery again = q.lease();
  CHECK(begin(q, job, "s") == "stale");
  CHECK(begin(q, again, "s") == "run");
  q.clock().advance(60'001);
  CHECK(begin(q, again, "s") == "stale");
}

TEST_CASE("names of steps are those of queues") {
  WHERE_STEPS_ARE(q);
  q.push("t", "m");
  const Delivery job = q.lease();
  CHECK(begin(q, job, std::string(64, 'n').c_str()) == "run");
  CHECK(begin(q, job, std::string(65, 'n').c_str()) == "usage");
  CHECK(begin(q, job, "") == "usage");
  CHECK(begin(q, job, "a/b") == "usage");
}

TEST_CASE("outputs of any length up to the limit are kept, of one step and of all") {
  WHERE_STEPS_ARE(q);
  const MessageId id = q.push("t", "m");
  const Delivery job = q.lease();
  const size_t lengths[] = {0, 1, kInlinePayloadBytesMax, kInlinePayloadBytesMax + 1, kStepBytesMax};
  for (const size_t bytes : lengths) {
    const std::string output(bytes, 'x');
    keep(q, job, "s" + std::to_string(bytes), output);
    CHECK(begin(q, job, ("s" + std::to_string(bytes)).c_str()) == "kept " + output);
  }
  CHECK(refusal(q, job, "long", std::string(kStepBytesMax + 1, 'x')) == ErrorKind::bad_data);
  CHECK(begin(q, job, "long") == "run");
  const std::string most(kStepBytesMax, 'y');
  for (int i = 0; i < 14; ++i) keep(q, job, "more" + std::to_string(i), most);
  CHECK(refusal(q, job, "last", most) == ErrorKind::bad_data);
  const size_t left = kStepsBytesMax - 15 * kStepBytesMax - 2 * kInlinePayloadBytesMax - 2;
  CHECK(refusal(q, job, "last", most.substr(0, left + 1)) == ErrorKind::bad_data);
  CHECK(keep(q, job, "last", most.substr(0, left)) == SettleStatus::ok);
  CHECK(steps(q).list(id).value()->size() == 20);
}

TEST_CASE("a message has as many steps as there may be, and not one more") {
  WHERE_STEPS_ARE(q);
  const MessageId id = q.push("t", "m");
  const Delivery job = q.lease();
  for (uint32_t i = 0; i < kStepsPerMessageMax; ++i) keep(q, job, "s" + std::to_string(i), "o");
  CHECK(begin(q, job, "one-more") == "refused");
  CHECK(refusal(q, job, "one-more", "o") == ErrorKind::bad_data);
  CHECK(begin(q, job, "s0") == "kept o");
  CHECK(keep(q, job, "s0", "other") == SettleStatus::ok);
  CHECK(steps(q).list(id).value()->size() == kStepsPerMessageMax);
  q.ack(job);
  q.push("t", "n");
  const Delivery next = q.lease();
  CHECK(begin(q, next, "s0") == "run");
  CHECK(keep(q, next, "s0", "x") == SettleStatus::ok);
  const Result<CheckReport> report = q.door().check();
  REQUIRE(report.ok());
  CHECK(report->findings.empty());
}

TEST_CASE("a kick keeps the steps of a message, a fresh one forgets them") {
  WHERE_STEPS_ARE(q);
  const MessageId id = q.push("t", "m");
  const Delivery first = q.lease();
  keep(q, first, "s", "x");
  keep(q, first, "long", std::string(kInlinePayloadBytesMax + 1, 'x'));
  q.bury(first);
  CHECK(names(q, id) == "s long ");
  CHECK(q.mutate({id}, Action::kick).changed == 1);
  const Delivery second = q.lease();
  CHECK(begin(q, second, "s") == "kept x");
  q.bury(second);
  CHECK(q.mutate({id}, Action::kick_fresh).changed == 1);
  CHECK(names(q, id) == "");
  CHECK(q.stats().bytes == 1);
  const Delivery third = q.lease();
  CHECK(begin(q, third, "s") == "run");
  keep(q, third, "s", "y");
  CHECK(names(q, id) == "s ");
}

TEST_CASE("what steps put out counts as bytes of their message, of its tenant and of the queue") {
  WHERE_STEPS_ARE(q);
  q.push("a/b", "12345");
  const Delivery job = q.lease();
  keep(q, job, "s", "123");
  keep(q, job, "long", std::string(100'000, 'x'));
  CHECK(q.stats().bytes == 100'008);
  CHECK(q.stats("a/b").bytes == 100'008);
  CHECK(keep(q, job, "s", "1") == SettleStatus::ok);
  CHECK(q.stats().bytes == 100'006);
  q.bury(job);
  q.mutate({job.id}, Action::cancel);
  CHECK(q.stats().bytes == 0);
}

TEST_CASE("steps end with their message, and are told as long as that is") {
  WHERE_STEPS_ARE(q);
  q.set_policy([](Settings& settings) { settings.retention_ms = 10'000; });
  const MessageId id = q.push("t", "m");
  const Delivery job = q.lease();
  keep(q, job, "one", "x");
  keep(q, job, "two", "xy");
  q.ack(job);
  CHECK(names(q, id) == "one two ");
  CHECK(steps(q).list(id).value()->at(1).bytes == 2);
  q.clock().advance(10'001);
  CHECK(names(q, id) == "none");
}

TEST_CASE("of two that are at one step one waits for the other, and gets what that put out", "[threads]") {
  WHERE_STEPS_ARE(q);
  q.push("t", "m");
  const Delivery job = q.lease();
  Result<StepBegin> first = steps(q).begin(job.receipt, "s", nullptr);
  REQUIRE((first.ok() && first->turn));
  const std::unique_ptr<Queue> other = q.another_handle();
  std::string got;
  std::thread waiting([&] {
    const Result<StepBegin> second = other->steps()->begin(job.receipt, "s", nullptr);
    if (second.ok()) got = second->output.value_or("to be run");
  });
  let_the_other_wait();
  keep(q, job, "s", "of the first");
  first->turn.reset();
  waiting.join();
  CHECK(got == "of the first");
}

TEST_CASE("who waited for a step that failed runs it", "[threads]") {
  WHERE_STEPS_ARE(q);
  q.push("t", "m");
  const Delivery job = q.lease();
  Result<StepBegin> first = steps(q).begin(job.receipt, "s", nullptr);
  REQUIRE((first.ok() && first->turn));
  const std::unique_ptr<Queue> other = q.another_handle();
  bool ours = false;
  std::thread waiting([&] {
    const Result<StepBegin> second = other->steps()->begin(job.receipt, "s", nullptr);
    ours = second.ok() && second->turn != nullptr;
  });
  let_the_other_wait();
  first->turn.reset();
  waiting.join();
  CHECK(ours);
}

TEST_CASE("a step pushes one message, however often its job is run, as long as its own message lives") {
  WHERE_STEPS_ARE(q);
  q.needs_one_account();
  const MessageId parent = q.push("p", "parent");
  const Delivery first = q.lease();
  const NewMessage child = message_of(q.path("c"), "child", {});
  const StepPush pushed = steps(q).push(first.receipt, "child", child).value();
  CHECK(pushed.receipt == SettleStatus::ok);
  CHECK(steps(q).push(first.receipt, "child", child).value().child == pushed.child);
  q.retry(first);
  CHECK(q.pop(1) == "child");
  const Delivery second = q.lease();
  REQUIRE(second.id == parent);
  CHECK(steps(q).push(second.receipt, "child", child).value().child == pushed.child);
  CHECK(q.pop(1) == "");
  const StepPush other = steps(q).push(second.receipt, "other", child).value();
  CHECK(other.child != pushed.child);
  CHECK(steps(q).list(parent).value()->at(0).kind == StepKind::push);
  q.bury(second);
  CHECK(q.mutate({parent}, Action::kick_fresh).changed == 1);
  CHECK(q.pop(1) == "child");
  const Delivery third = q.lease();
  CHECK(steps(q).push(third.receipt, "child", child).value().child != pushed.child);
  const Result<CheckReport> report = q.door().check();
  CHECK((report.ok() && report->findings.empty()));
}

TEST_CASE("a step pushes what a push would take, under a receipt that holds and a name of its own") {
  WHERE_STEPS_ARE(q);
  q.needs_one_account();
  q.push("p", "parent");
  const Delivery job = q.lease();
  NewMessage child = message_of(q.path("c"), "child", {});
  child.unique = "key";
  CHECK(steps(q).push(job.receipt, "s", child).error().kind == ErrorKind::usage);
  child.unique = {};
  child.after = {job.id};
  CHECK(steps(q).push(job.receipt, "s", child).error().kind == ErrorKind::usage);
  child.after = {};
  CHECK(steps(q).push(job.receipt, "a/b", child).error().kind == ErrorKind::usage);
  keep(q, job, "run", "x");
  CHECK(steps(q).push(job.receipt, "run", child).error().kind == ErrorKind::usage);
  CHECK(steps(q).push(job.receipt, "s", child).value().receipt == SettleStatus::ok);
  CHECK(begin(q, job, "s") == "usage");
  q.ack(job);
  CHECK(is_refused(steps(q).push(job.receipt, "t", child).value().receipt));
  CHECK(q.pop(2) == "child");
}

TEST_CASE("a step pushes and waits in its own account, and in any, or that is refused by name") {
  WHERE_STEPS_ARE(q);
  const MessageId own = q.push("t/below", "x", {.delay_ms = 60'000});
  q.push("t", "m");
  const Delivery job = q.lease();
  CHECK(steps(q).push(job.receipt, "own", message_of("t/child", "c", {})).value().receipt ==
        SettleStatus::ok);
  const bool ties = q.door().caps().ties_between_accounts;
  bool is_refused = false;
  std::vector<MessageId> all = {own};
  for (char account = 'a'; account < 't'; ++account) {
    const std::string name(1, account);
    all.push_back(q.push(name, "x"));
    const Result<StepPush> pushed = steps(q).push(job.receipt, name, message_of(name, "c", {}));
    if (pushed.ok()) continue;
    is_refused = true;
    CHECK(pushed.error().kind == ErrorKind::usage);
    CHECK(pushed.error().text ==
          "step '" + name +
              "': pushes for an account of another shard; in this queue it has to be that of its message");
  }
  CHECK(is_refused == !ties);
  const Result<StepPause> waits = steps(q).wait(job.receipt, "wait", all);
  REQUIRE(waits.ok() == ties);
  if (ties) CHECK_FALSE(waits->over);
  if (ties) return;
  CHECK(waits.error().kind == ErrorKind::usage);
  CHECK(waits.error().text.ends_with(
      " lies on another shard; in this queue a step waits for messages of its own account"));
  CHECK_FALSE(steps(q).wait(job.receipt, "wait", std::span(all).first(1)).value().over);
}

TEST_CASE("that steps were forgotten is told, where there were any") {
  WHERE_STEPS_ARE(q);
  const MessageId id = q.push("t", "m");
  const Delivery job = q.lease();
  keep(q, job, "s", "xyz");
  q.bury(job);
  REQUIRE(q.mutate({id}, Action::kick_fresh).changed == 1);
  q.bury(q.lease());
  REQUIRE(q.mutate({id}, Action::kick_fresh).changed == 1);
  CHECK(q.events(id) == "pushed leased buried unstepped kicked leased buried kicked");
}

}  // namespace fq::test
