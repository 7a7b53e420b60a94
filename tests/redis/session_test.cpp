// session_test - what a client holds by living: for as long as the server hears of it.

// System.
#include <unistd.h>
// Tests.
#include "tests/redis/dead_client.h"

namespace fq::test {

TEST_CASE("what a dead client held comes back when nobody has heard of it for its time") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  const MessageId id = push_one(*queue, "t", "x");
  take_and_die(server, clock);
  clock.advance(14'999);
  CHECK(answered(queue->get(id))->state == State::leased);
  CHECK(answered(queue->attendees()).size() == 1);
  clock.advance(1);
  const LeaseReply again = answered(queue->lease({}));
  REQUIRE(again.deliveries.size() == 1);
  CHECK(again.deliveries[0].crashes == 1);
  CHECK(answered(queue->attendees()).at(0).pid == ::getpid());
}

TEST_CASE("what a client held comes back at once when it says that it leaves") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  const MessageId id = push_one(*queue, "t", "x");
  auto other = open_on(told_time_engine(), server.spool(), &clock);
  REQUIRE(answered(other->lease({})).deliveries.size() == 1);
  CHECK(answered(queue->get(id))->state == State::leased);
  other.reset();
  CHECK(answered(queue->get(id))->state == State::ready);
  CHECK(answered(queue->attendees()).empty());
}

TEST_CASE("a server that was started anew takes nothing from who could not be heard") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  const MessageId id = push_one(*queue, "t", "x");
  take_and_die(server, clock);
  command(server, {"HSET", "fq1:fq:{default:0:0}:h", "run", "another"});
  clock.advance(15'001);
  CHECK(answered(queue->get(id))->state == State::leased);
  clock.advance(15'001);
  CHECK(answered(queue->get(id))->state == State::ready);
}

TEST_CASE("check finds what does not agree, and names it") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  push_one(*queue, "t", "x");
  const CheckReport well = answered(queue->check());
  CHECK(well.findings.lines.empty());
  CHECK(well.messages == 1);
  command(server, {"DEL", "fq1:fq:{default:0:0}:q:t"});
  const CheckReport report = answered(queue->check());
  REQUIRE(report.findings.lines.size() == 2);
  CHECK(report.findings.lines[0].find("message 1: is ready") != std::string::npos);
  CHECK(report.findings.lines[1].find("tenant t: ") != std::string::npos);
}

}  // namespace fq::test
