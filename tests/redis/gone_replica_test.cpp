// gone_replica_test - a master whose replica dies or hangs: what waits for a copy waits for it once, and only
// who was told that something is accepted is told that it has none.

// System.
#include <string>
#include <vector>
// Tests.
#include "tests/redis/fixture.h"
#include "tests/redis/waiter.h"

namespace fq::test {

namespace {

struct WithReplica {
  WithReplica() {
    const std::string port_text = std::to_string(port);
    command(master, {"CONFIG", "SET", "port", port_text});
    replica = std::make_unique<TestServer>(
        std::vector<std::string>{"--repl-diskless-sync-delay", "0", "--replicaof", "127.0.0.1 " + port_text});
    wait_until([&] { return command(master, {"INFO"}).text.find("state=online") != std::string::npos; });
    queue = open_on(real_time_engine(), master.spool("?timeout=2s"));
    push_one(*queue, "t", "x");
  }

  const uint16_t port = free_port();
  TestServer master;
  std::unique_ptr<TestServer> replica;
  std::unique_ptr<Queue> queue;
};

}  // namespace

TEST_CASE("who was connected while there was a replica finds that it is gone, and waits for it no more") {
  WithReplica s;
  s.replica->kill();
  wait_until(
      [&] { return command(s.master, {"INFO"}).text.find("connected_slaves:0") != std::string::npos; });
  push_one(*s.queue, "t", "it may wait once");
  CHECK(ms_of([&] { push_one(*s.queue, "t", "and no more"); }) < 1'000);
}

TEST_CASE("a replica that hangs is no fault of who takes messages, though schedules fall due meanwhile") {
  WithReplica s;
  ScheduleDefinition definition;
  definition.name = "s";
  definition.spec = "every 1s";
  definition.message.payload = as_bytes("tick");
  definition.overlap = OverlapRule::queue;
  REQUIRE(s.queue->schedules()->set(definition).ok());
  s.replica->stop();
  size_t taken = 0;
  wait_until([&] {
    const Result<LeaseReply> leased = s.queue->lease(for_a_minute());
    INFO((leased.ok() ? std::string() : leased.error().text));
    REQUIRE(leased.ok());
    taken += leased->deliveries.size();
    return taken > 1;
  });
  s.replica->go_on();
}

}  // namespace fq::test
