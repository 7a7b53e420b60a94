// hosts_test - a spool of several hosts that are no cluster: whichever is the master is used, also by who
// spoke to another before.

// System.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>
// Tests.
#include "tests/redis/relay.h"
#include "tests/redis/waiter.h"

namespace fq::test {

namespace {

struct Host {
  uint16_t port = free_port();
  TestServer server{
      {"--port", std::to_string(port), "--bind", "127.0.0.1", "--repl-diskless-sync-delay", "0"}};

  std::string address() const { return "127.0.0.1:" + std::to_string(port); }
  void follow(uint16_t master) const { order("REPLICAOF 127.0.0.1 " + std::to_string(master)); }
  void lead() const { order("REPLICAOF NO ONE"); }
  /// Also of a replica.
  void order(const std::string& line) const { do_unheard(server, line + "\r\n"); }
};

/// A queue on the first of two, of which the second is its replica and has all.
struct TwoHosts {
  TwoHosts() {
    replica.follow(master.port);
    wait_until([&] {
      return command(master.server, {"INFO", "replication"}).text.find("state=online") != std::string::npos;
    });
    queue = another();
    push_one(*queue, "t", "before");  // which waits for the replica
  }
  std::unique_ptr<Queue> another() const {
    return open_on(real_time_engine(), "redis://" + master.address() + "," + replica.address());
  }
  /// `follows`: the old master is the new one's replica; else it has lost it.
  void change_over(bool follows) const {
    replica.lead();
    master.follow(follows ? replica.port : 1);
  }
  std::vector<std::string> payloads(Queue& of) const {
    std::vector<std::string> found;
    for (const MessageInfo& each : answered(of.peek({}, {}, 10)).messages)
      found.push_back(each.payload.value_or(""));
    std::sort(found.begin(), found.end());
    return found;
  }

  Host master, replica;
  std::unique_ptr<Queue> queue;
};

using Payloads = std::vector<std::string>;

}  // namespace

TEST_CASE("who changes something while a replica has taken over goes to that one at once") {
  TwoHosts two;
  two.change_over(GENERATE(true, false));
  push_one(*two.queue, "t", "after");
  CHECK(two.payloads(*two.another()) == Payloads{"after", "before"});
  CHECK(answered(two.queue->lease(for_a_minute(2))).deliveries.size() == 2);
}

TEST_CASE("who only looks while a replica has taken over sees what is there now, soon") {
  TwoHosts two;
  const auto looker = two.another();
  REQUIRE(two.payloads(*looker) == Payloads{"before"});
  SECTION("what the old master has stands still") { two.change_over(false); }
  SECTION("the old master tells nothing any more") {
    two.master.order("CONFIG SET replica-serve-stale-data no");
    two.change_over(false);
    REQUIRE(two.payloads(*looker) == Payloads{"before"});  // at once
  }
  push_one(*two.another(), "t", "after");
  wait_until([&] { return two.payloads(*looker) == Payloads{"after", "before"}; });
}

TEST_CASE("who waits for work while a replica has taken over gets what is pushed there") {
  TwoHosts two;
  REQUIRE(answered(two.queue->lease(for_a_minute())).deliveries.size() == 1);
  Waiter waiter(two.another());
  CHECK(!waiter.is_back(200));
  two.change_over(GENERATE(true, false));
  push_one(*two.another(), "t", "after");
  REQUIRE(waiter.is_back(4 * kSoonMs));
  CHECK(waiter.reply().deliveries.size() == 1);
}

}  // namespace fq::test
