// steps_test - steps on a server: who is at one and dies, what is bad, and that nothing is left there.

// System.
#include <sys/wait.h>
#include <unistd.h>
// Tests.
#include "tests/redis/dead_client.h"

namespace fq::test {

namespace {

Delivery take_one(Queue& queue) {
  LeaseReply reply = answered(queue.lease(for_a_minute()));
  return std::move(reply.deliveries.at(0));
}

}  // namespace

TEST_CASE("a step whose process died is run by another when nobody has heard of it for its time") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  push_one(*queue, "t", "x");
  const Delivery job = take_one(*queue);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto dying = open_on(told_time_engine(), server.spool(), &clock);
    StepBegin begun = dying->steps()->begin(job.receipt, "s", nullptr).value();
    ::_exit(begun.turn != nullptr ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  Interrupt at_once;
  at_once.raise();
  CHECK(queue->steps()->begin(job.receipt, "s", &at_once).error().kind == ErrorKind::later);
  time_goes_by(server, clock, 15'000);
  CHECK(answered(queue->steps()->begin(job.receipt, "s", &at_once)).turn != nullptr);
}

TEST_CASE("a step that its process gave up is free at once") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  const auto other = open_on(told_time_engine(), server.spool(), &clock);
  push_one(*queue, "t", "x");
  const Delivery job = take_one(*queue);
  answered(queue->steps()->begin(job.receipt, "s", nullptr)).turn.reset();
  CHECK(answered(other->steps()->begin(job.receipt, "s", nullptr)).turn != nullptr);
}

TEST_CASE("a message that has ended leaves nothing of its steps on the server") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  const MessageId id = push_one(*queue, "t", "x");
  const Delivery job = take_one(*queue);
  Steps& steps = *queue->steps();
  answered(steps.begin(job.receipt, "begun", nullptr));
  CHECK(answered(steps.keep(job.receipt, "kept", as_bytes("output"))) == SettleStatus::ok);
  CHECK(answered(queue->mutate(std::vector{id}, Action::cancel)).changed == 1);
  for (const Reply& key : command(server, {"KEYS", "*}:s[tok]:*"}).items) FAIL(key.text);
}

TEST_CASE("a server whose memory is full keeps no output, and lets a job sleep") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  const MessageId id = push_one(*queue, "t", "x");
  const Delivery job = take_one(*queue);
  Steps& steps = *queue->steps();
  command(server, {"CONFIG", "SET", "maxmemory", "1"});
  CHECK(steps.keep(job.receipt, "s", as_bytes("output")).error().kind == ErrorKind::later);
  CHECK(steps.push(job.receipt, "p", NewMessage()).error().kind == ErrorKind::later);
  CHECK_FALSE(answered(steps.sleep(job.receipt, "nap", 1'000, 0)).over);
  CHECK(answered(queue->get(id))->state == State::delayed);
  CHECK(answered(steps.list(id))->size() == 1);
}

TEST_CASE("a step of a newer fq, and one that nobody can read, are told as such") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  const MessageId id = push_one(*queue, "t", "x");
  const Delivery job = take_one(*queue);
  CHECK(answered(queue->steps()->keep(job.receipt, "s", as_bytes("x"))) == SettleStatus::ok);
  const std::string key = "fq1:fq:{default:0:0}:st:" + std::to_string(number(id));
  std::string step = command(server, {"HGET", key, "s"}).text;
  step[0] = 99;
  command(server, {"HSET", key, "s", step});
  CHECK(queue->steps()->begin(job.receipt, "s", nullptr).error().text.find("another fq") !=
        std::string::npos);
  CHECK(answered(queue->steps()->list(id))->empty());
  command(server, {"HSET", key, "s", "short"});
  CHECK(!queue->steps()->begin(job.receipt, "s", nullptr).ok());
  CHECK(!queue->steps()->list(id).ok());
  CHECK(answered(queue->get(id))->state == State::leased);
}

}  // namespace fq::test
