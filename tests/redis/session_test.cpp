// session_test - what a client holds by living: for as long as the server hears of it.

// System.
#include <sys/wait.h>
#include <unistd.h>

#include <string>
// Tests.
#include "tests/redis/dead_client.h"
#include "tests/redis/waiter.h"

namespace fq::test {

TEST_CASE("what a dead client held comes back when nobody has heard of it for its time") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  const MessageId id = push_one(*queue, "t", "x");
  take_and_die(server, clock);
  time_goes_by(server, clock, 14'999);
  CHECK(answered(queue->get(id))->state == State::leased);
  CHECK(answered(queue->attendees()).size() == 1);
  clock.advance(1);
  const LeaseReply again = answered(queue->lease({}));
  REQUIRE(again.deliveries.size() == 1);
  CHECK(again.deliveries[0].crashes == 1);
  CHECK(answered(queue->attendees()).at(0).pid == ::getpid());
}

TEST_CASE("that a client died is an event of what it held, and is why the run failed") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  const MessageId id = push_one(*queue, "t", "x");
  REQUIRE(queue->policy_set("", {{{PolicyKey::attempts, 2, 0, {}}}, {}}).ok());
  const auto last_event = [&] {
    EventPage page;
    REQUIRE(queue->events({.id = id}, page).ok());
    return std::string(page.events.back().event) + ":" + std::string(page.events.back().reason);
  };
  take_and_die(server, clock);
  time_goes_by(server, clock, 15'000);
  CHECK(last_event() == "died:");
  CHECK(answered(queue->get(id))->last_error.value().reason == "its holder died");
  take_and_die(server, clock);
  time_goes_by(server, clock, 15'000);
  CHECK(last_event() == "buried:its holder died");
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

TEST_CASE("a server that stood still, or whose clock went ahead, takes nothing from who could not be heard") {
  FakeClock clock;
  const TestServer server;
  const auto one = open_on(told_time_engine(), server.spool(), &clock);
  const auto other = open_on(told_time_engine(), server.spool(), &clock);
  push_one(*one, "t", "x");
  push_one(*one, "t", "y");
  const MessageId first = answered(one->lease({})).deliveries.at(0).id;
  const MessageId second = answered(other->lease({})).deliveries.at(0).id;
  const bool by_a_stranger = GENERATE(false, true);
  clock.advance(20'000);
  by_a_stranger ? somebody_calls(server, clock) : void(answered(one->maintain(1)));
  CHECK(answered(one->get(first))->state == State::leased);
  CHECK(answered(one->get(second))->state == State::leased);
  answered(other->maintain(1));
  CHECK(answered(one->get(second))->state == State::leased);
}

TEST_CASE("a queue is neither removed nor renamed while somebody who could not be heard may live") {
  FakeClock clock;
  TestServer server({"--appendonly", "yes", "--appendfsync", "always"});
  const RedisEngine& engine = told_time_engine();
  const uint32_t shards = GENERATE(1U, 4U);
  const bool is_restarted = GENERATE(false, true);
  CAPTURE(shards, is_restarted);
  const Location location{server.spool(), "default"};
  answered(engine.create(location, {.shards = shards}));
  push_one(*open_on(engine, server.spool(), &clock), "t", "x");
  take_and_die(server, clock);
  if (is_restarted) {
    server.kill();
    server.start();
  }
  const auto time_goes = [&](int64_t ms) {
    clock.advance(ms);
    const std::string now = std::to_string(clock.boot_ms());
    for (const Reply& root : command(server, {"KEYS", "*:h"}).items)
      command(server, {"HSET", root.text, "clock", now});
  };
  time_goes(20'000);
  const auto refused = [](const Result<void>& done) {
    return !done.ok() && done.error().kind == ErrorKind::later;
  };
  const bool renames_first = GENERATE(false, true);
  if (renames_first) CHECK(refused(engine.rename(location, "other")));
  CHECK(refused(engine.remove(location)));
  if (!renames_first) CHECK(refused(engine.rename(location, "other")));
  // Which is over when nobody was heard.
  time_goes(is_restarted ? 15'000 : 8'000);
  CHECK(engine.rename(location, "other").ok());
  CHECK(engine.remove({server.spool(), "other"}).ok());
}

TEST_CASE("what the dead held comes back although few call, and each after a long time") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  const MessageId id = push_one(*queue, "t", "x");
  take_and_die(server, clock);
  clock.advance(60'000);
  somebody_calls(server, clock);
  CHECK(answered(queue->get(id))->state == State::leased);
  clock.advance(60'000);
  somebody_calls(server, clock);
  CHECK(answered(queue->get(id))->state == State::ready);
}

TEST_CASE("a worker that a server took for dead is a worker again once it is heard") {
  FakeClock clock;
  const TestServer server;
  const auto worker = open_on(told_time_engine(), server.spool(), &clock);
  REQUIRE(worker->attend({.slots = 3, .messages = 2}).ok());
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  const int64_t since_ms = *answered(queue->attendees()).at(0).since_wall_ms;
  clock.advance(1'000);
  REQUIRE(worker->attend({.slots = 3, .messages = 2}).ok());
  CHECK(answered(queue->attendees()).at(0).since_wall_ms == since_ms);
  time_goes_by(server, clock, 15'000);
  somebody_calls(server, clock);
  CHECK(answered(queue->attendees()).empty());
  std::vector<Attendee> all;
  wait_until([&] { return !(all = answered(queue->attendees())).empty(); });  // it is heard each 5 s
  CHECK(all.at(0).kind == Attendee::Kind::worker);
  CHECK(all.at(0).slots == 3);
  CHECK(all.at(0).pid == ::getpid());
  CHECK(all.at(0).since_wall_ms == since_ms + 16'000);
}

TEST_CASE("an attendance that cannot be read is none, and the next word of its worker makes it one") {
  FakeClock clock;
  const TestServer server;
  const auto worker = open_on(told_time_engine(), server.spool(), &clock);
  const auto is_worker = [&] {
    const std::vector<Attendee> all = answered(worker->attendees());
    return all.size() == 1 && all[0].slots == 65'535 && !all[0].stopped;
  };
  REQUIRE(worker->attend({.slots = 100'000}).ok());  // as many as are told
  REQUIRE(is_worker());
  const Reply sessions = command(server, {"HKEYS", "fq1:fq:{default:0:0}:at"});
  REQUIRE(sessions.items.size() == 1);
  for (const std::string_view unreadable : {"", "x", "nineteen characters"}) {
    CAPTURE(unreadable);
    command(server, {"HSET", "fq1:fq:{default:0:0}:at", sessions.items[0].text, unreadable});
    CHECK(answered(worker->attendees()).empty());
    REQUIRE(worker->attend({.slots = 100'000}).ok());
    CHECK(is_worker());
  }
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

TEST_CASE("a process that is forked has connections of its own") {
  const TestServer server;
  const auto connections = [&] {
    const std::string info = command(server, {"INFO", "stats"}).text, word = "total_connections_received:";
    return std::stoull(info.substr(info.find(word) + word.size()));
  };
  const auto count_lists = [&] {
    const unsigned long long before = connections();
    CHECK(answered(real_time_engine().list(server.spool())).empty());
    return connections() - before - 1;  // without the one by which it is asked
  };
  CHECK(count_lists() == 1);
  CHECK(count_lists() == 0);
  const unsigned long long before = connections();
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) ::_exit(real_time_engine().list(server.spool()).ok() ? 0 : 1);
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(connections() - before - 1 == 1);
  CHECK(count_lists() == 0);
}

}  // namespace fq::test
