// follow_test - what a job writes is read while it runs, run after run, and its caller holds it back.
#include "tests/api/contract.h"

// System.
#include <thread>

namespace fq::test {

namespace {

using What = FollowStep::What;

constexpr uint64_t kMax = 1'000;

std::shared_ptr<RunOutput> run_of(QueueFixture& q, const Delivery& delivery, const RunTerms& terms = {kMax}) {
  std::shared_ptr<RunOutput> run = q.door().run_output(delivery, terms).value();
  REQUIRE(run);
  REQUIRE(run->open().ok());
  return run;
}

MessageId push_call(QueueFixture& q, CallId call, uint32_t attempts = 5) {
  NewMessage message = message_of("t", "called", {.attempts_max = attempts});
  message.call = call;
  message.keep_ms = 1'000'000;
  return q.door().push({&message, 1}).value().items.at(0).id;
}

/// "run 1|o:text|e:text|3 missing|...", as far as there is something now.
std::string steps(OutputFollower& follower, bool only_there = false) {
  std::string text;
  for (;;) {
    const FollowStep step = follower.next({0, only_there, nullptr}).value();
    const char* const name = step.channel == Channel::out ? "o:" : "e:";
    if (step.what == What::timed_out) return text;
    if (step.what == What::bytes) text.append(name).append(step.bytes).append("|");
    if (step.what == What::missing) text += name + std::to_string(step.count) + " missing|";
    if (step.what == What::run) text += "run " + std::to_string(step.count) + "|";
    if (step.what == What::broken_off) text += "broken off|";
    if (step.what == What::ended) return text + "ended";
  }
}

std::unique_ptr<OutputFollower> follower_of(QueueFixture& q, MessageId id, std::optional<CallId> call = {}) {
  return q.door().follow(id, call).value();
}

SettleStatus settle_run(QueueFixture& q, const Delivery& d, Verdict verdict, std::shared_ptr<RunOutput> run) {
  run->close();
  JobOutput output;
  output.keep_ms = 10'000;
  output.run = std::move(run);
  Settle item;
  item.receipt = d.receipt;
  item.verdict = verdict;
  item.output = &output;
  return q.door().settle({&item, 1}).value().items.at(0);
}

}  // namespace

TEST_CASE("what a job writes is read as it is written, until its message has ended") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "only");
  const auto follower = follower_of(q, id);
  CHECK(steps(*follower) == "");
  const Delivery d = q.lease();
  CHECK(steps(*follower) == "");
  std::shared_ptr<RunOutput> run = run_of(q, d);
  run->write(Channel::out, "one");
  CHECK(steps(*follower) == "run 1|o:one|");
  run->write(Channel::err, "two");
  run->write(Channel::out, std::string("\0\xff", 2));
  CHECK(steps(*follower) == std::string("o:\0\xff|e:two|", 11));
  CHECK(steps(*follower) == "");
  run->write(Channel::out, "last");
  CHECK(settle_run(q, d, Verdict::ack, std::move(run)) == SettleStatus::ok);
  CHECK(steps(*follower) == "o:last|ended");
  CHECK(steps(*follower) == "ended");
}

TEST_CASE("who follows later begins at the beginning, and reads what is kept after the end") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "only");
  const Delivery d = q.lease();
  std::shared_ptr<RunOutput> run = run_of(q, d);
  run->write(Channel::out, "so far");
  CHECK(steps(*follower_of(q, id), true) == "run 1|o:so far|");
  run->write(Channel::out, ", all");
  run->write(Channel::err, "noise");
  CHECK(settle_run(q, d, Verdict::bury, std::move(run)) == SettleStatus::ok);
  CHECK(steps(*follower_of(q, id)) == "o:so far, all|e:noise|ended");
}

TEST_CASE("of an output at the limit all is kept, of a longer one the first and the last half") {
  ON_EVERY_ENGINE(q);
  for (const size_t bytes : {999U, 1'000U, 1'001U, 5'000U, 40'000U}) {
    std::string text;
    while (text.size() < bytes) text += std::to_string(text.size()) + ",";
    text.resize(bytes);
    const MessageId id = q.push("t", "only");
    const Delivery d = q.lease();
    std::shared_ptr<RunOutput> run = run_of(q, d);
    for (size_t at = 0; at < bytes; at += 300)
      run->write(Channel::out, std::string_view(text).substr(at, 300));
    CHECK(settle_run(q, d, Verdict::ack, std::move(run)) == SettleStatus::ok);
    const JobOutput kept = *q.door().output(id).value();
    const uint64_t cut = bytes > kMax ? bytes - kMax : 0;
    CHECK(kept.out == (cut == 0 ? text : text.substr(0, 500) + text.substr(bytes - 500)));
    CHECK(kept.out_gap == (cut == 0 ? Gap{} : Gap{500, cut}));
    CHECK(kept.err_gap == Gap{});
    const std::string told = cut == 0 ? "o:" + text + "|ended"
                                      : "o:" + text.substr(0, 500) + "|o:" + std::to_string(cut) +
                                            " missing|o:" + text.substr(bytes - 500) + "|ended";
    CHECK(steps(*follower_of(q, id)) == told);
  }
}

TEST_CASE("a long output is kept as a short one is") {
  ON_EVERY_ENGINE(q);
  const std::string text(300'000, 'x');
  const MessageId id = q.push("t", "only");
  const Delivery d = q.lease();
  std::shared_ptr<RunOutput> run = run_of(q, d, {1'000'000});
  run->write(Channel::err, text);
  run->write(Channel::out, "short");
  CHECK(settle_run(q, d, Verdict::ack, std::move(run)) == SettleStatus::ok);
  CHECK(q.door().output(id).value()->err == text);
  CHECK(q.door().output(id).value()->out == "short");
}

TEST_CASE("a caller that does not read holds back its job, and one that reads lets it go on") {
  ON_EVERY_ENGINE(q);
  const CallId call = q.door().begin_call("t").value();
  const MessageId id = push_call(q, call);
  const std::unique_ptr<Queue> worker = q.another_handle();
  const Delivery d = q.lease();
  REQUIRE(d.call == call);
  std::shared_ptr<RunOutput> run = worker->run_output(d, {kMax}).value();
  CHECK(run->is_called());
  REQUIRE(run->open().ok());
  const std::string piece(64 * 1024, 'x');
  uint64_t written = 0;
  while (run->has_room(Channel::out)) {
    run->write(Channel::out, piece);
    REQUIRE((written += piece.size()) < (64U << 20));
  }
  CHECK(run->has_room(Channel::err));
  // What a job that has ended left in its pipe comes all the same.
  for (int i = 0; i < 64; ++i) run->write(Channel::out, piece), written += piece.size();
  const auto caller = follower_of(q, id, call);
  uint64_t read = 0;
  for (;;) {
    const FollowStep step = caller->next({0, false, nullptr}).value();
    if (step.what == What::timed_out) break;
    CHECK(step.what != What::missing);
    read += step.bytes.size();
  }
  CHECK(read == written);
  CHECK(run->has_room(Channel::out));
}

TEST_CASE("a caller that is dead, or was told that it is not waited for, holds back nobody") {
  ON_EVERY_ENGINE(q);
  for (const bool waits : {true, false}) {
    std::unique_ptr<Queue> caller = q.another_handle();
    const MessageId id = push_call(q, caller->begin_call("t").value());
    const Delivery d = q.lease();
    std::shared_ptr<RunOutput> run = run_of(q, d, {kMax, waits});
    if (waits) caller.reset();
    for (int i = 0; i < 200; ++i) {
      CHECK(run->has_room(Channel::out));
      run->write(Channel::out, std::string(64 * 1024, 'x'));
    }
    CHECK(settle_run(q, d, Verdict::ack, std::move(run)) == SettleStatus::ok);
    CHECK(q.door().output(id).value()->out_gap.bytes == 200 * 64 * 1024 - kMax);
  }
}

TEST_CASE("a caller that does not follow any more holds back nobody") {
  ON_EVERY_ENGINE(q);
  const CallId call = q.door().begin_call("t").value();
  const MessageId id = push_call(q, call);
  const std::unique_ptr<Queue> worker = q.another_handle();
  const Delivery d = q.lease();
  std::shared_ptr<RunOutput> run = worker->run_output(d, {kMax}).value();
  REQUIRE(run->open().ok());
  auto caller = follower_of(q, id, call);
  for (int i = 0; i < 100; ++i) run->write(Channel::out, std::string(64 * 1024, 'x'));
  CHECK_FALSE(run->has_room(Channel::out));
  caller.reset();
  CHECK(run->has_room(Channel::out));
}

TEST_CASE("a caller reads each run of its message, also those that are over") {
  ON_EVERY_ENGINE(q);
  const CallId call = q.door().begin_call("t").value();
  const MessageId id = push_call(q, call);
  const std::unique_ptr<Queue> worker = q.another_handle();
  for (const char* text : {"first", "second"}) {
    const Delivery d = q.lease();
    std::shared_ptr<RunOutput> run = worker->run_output(d, {kMax}).value();
    REQUIRE(run->open().ok());
    run->write(Channel::out, text);
    run.reset();
    CHECK(q.retry(d) == SettleStatus::ok);
  }
  const auto caller = follower_of(q, id, call);
  CHECK(steps(*caller) == "run 1|o:first|run 2|o:second|");
  const Delivery third = q.lease();
  CHECK(steps(*caller) == "");
  std::shared_ptr<RunOutput> run = worker->run_output(third, {kMax}).value();
  REQUIRE(run->open().ok());
  run->write(Channel::err, "third");
  CHECK(settle_run(q, third, Verdict::ack, std::move(run)) == SettleStatus::ok);
  CHECK(steps(*caller) == "run 3|e:third|ended");
}

TEST_CASE("a run that is over leaves nothing to who did not call") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "only");
  const Delivery d = q.lease();
  std::shared_ptr<RunOutput> run = run_of(q, d);
  run->write(Channel::out, "gone");
  run.reset();
  CHECK(q.release(d) == SettleStatus::ok);
  CHECK(steps(*follower_of(q, id)) == "");
}

TEST_CASE("who follows what ends without a job, or is not known, is told of the end") {
  ON_EVERY_ENGINE(q);
  const MessageId cancelled = q.push("t", "cancelled");
  const auto follower = follower_of(q, cancelled);
  CHECK(steps(*follower) == "");
  q.mutate({cancelled}, Action::cancel);
  CHECK(steps(*follower) == "ended");
  CHECK(steps(*follower_of(q, MessageId{4'711})) == "ended");
}

TEST_CASE("a job that writes on after its message was cancelled is read until it is over") {
  ON_EVERY_ENGINE(q);
  const CallId call = q.door().begin_call("t").value();
  const MessageId id = push_call(q, call);
  const std::unique_ptr<Queue> worker = q.another_handle();
  const Delivery d = q.lease();
  std::shared_ptr<RunOutput> run = worker->run_output(d, {kMax}).value();
  REQUIRE(run->open().ok());
  const auto caller = follower_of(q, id, call);
  run->write(Channel::out, "before");
  CHECK(steps(*caller) == "run 1|o:before|");
  q.mutate({id}, Action::cancel);
  run->write(Channel::out, "after");
  CHECK(steps(*caller) == "o:after|");
  run.reset();
  CHECK(steps(*caller) == "ended");
}

TEST_CASE("who follows sleeps until something is written, or its time is over", "[threads]") {
  ON_EVERY_ENGINE_WITH(q, Time::real);
  const std::unique_ptr<Queue> other = q.another_handle();
  const MessageId id = q.push("t", "only");
  const Delivery d = q.lease();
  const auto follower = follower_of(q, id);
  CHECK(follower->next({20, false, nullptr}).value().what == What::timed_out);
  Interrupt interrupt;
  const auto during = [&](const std::function<void()>& what) {
    std::thread thread([&] {
      let_the_other_wait();
      what();
    });
    const FollowStep step = follower->next({20'000, false, &interrupt}).value();
    thread.join();
    return step;
  };
  CHECK(during([&] { interrupt.raise(); }).what == What::interrupted);
  interrupt.lower();
  std::shared_ptr<RunOutput> run = other->run_output(d, {kMax}).value();
  CHECK(during([&] {
          static_cast<void>(run->open());
          run->write(Channel::out, "woken");
        }).what == What::run);
  CHECK(follower->next({0, false, nullptr}).value().bytes == "woken");
  CHECK(during([&] { run->write(Channel::out, "again"); }).bytes == "again");
  run.reset();
  CHECK(during([&] { static_cast<void>(other->mutate(std::vector{id}, Action::cancel)); }).what ==
        What::ended);
}

}  // namespace fq::test
