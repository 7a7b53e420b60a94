// no_server_test - where a server does not answer, or one is cut off from its cluster: who asks is told in
// time, and goes to another where there is one.

// System.
#include <string>
#include <vector>
// fq, below us.
#include "core/redis/shard/server_link.h"
// Tests.
#include "tests/redis/on_cluster.h"
#include "tests/redis/waiter.h"

namespace fq::test {

namespace {

/// A server that has been cut off: it believes that nearly all slots are its own, and serves none.
struct CutOff {
  CutOff() { command(server, {"CLUSTER", "ADDSLOTSRANGE", "0", "16382"}); }

  uint16_t port = free_port();
  TestServer server{{"--port", std::to_string(port), "--bind", "127.0.0.1", "--cluster-enabled", "yes"}};
};

}  // namespace

TEST_CASE("where no server answers, what asks many shards takes the time of one try") {
  Sharded s(64);
  const auto queue = open_on(real_time_engine(), s.server.spool("?connect=300ms&timeout=300ms"));
  s.server.stop();
  // On the connection that it has, and then on none.
  for (int i = 0; i < 3; ++i) {
    Result<LeaseReply> reply = Error{ErrorKind::io, "", 0};
    const int64_t ms = ms_of([&] { reply = queue->lease(for_a_minute()); });
    CHECK(ms < 3'000);
    REQUIRE(!reply.ok());
    CHECK(reply.error().kind == ErrorKind::later);  // it only looked
  }
  s.server.go_on();
  const int64_t end_ms = system_clock().boot_ms() + 5'000;
  bool is_answered = false;
  while (!is_answered && system_clock().boot_ms() < end_ms) is_answered = queue->lease(for_a_minute()).ok();
  CHECK(is_answered);
}

TEST_CASE("one that is cut off from its cluster is asked once, and then another") {
  const CutOff cut_off;
  OnCluster s(16);
  const std::string hosts = "redis://127.0.0.1:" + std::to_string(cut_off.port) + "," + s.cluster.address(0);
  for (int i = 0; i < 8; ++i) {  // of several hosts anyone may be met first
    const Location location{hosts + "/?timeout=3s&prefix=" + s.prefix, "default"};
    const auto queue = answered(real_time_engine().open(location, {}));
    push_one(*queue, "t" + std::to_string(i), "x");
    CHECK(answered(queue->lease(for_a_minute())).deliveries.size() == 1);
  }
}

TEST_CASE("who only looks leaves one that is cut off from its cluster as well") {
  const CutOff cut_off;
  OnCluster s(16);
  push_one(*s.queue, "t", "x");
  RedisPlace place = answered(parse_redis_place("redis://127.0.0.1:" + std::to_string(cut_off.port) + "/"));
  ServerLink link(place, "");
  const std::vector<std::vector<std::string>> commands = {{"EXISTS", s.tags().at(0) + "h"}};
  REQUIRE(!link.ask(commands).at(0).ok());
  place.hosts.push_back(answered(parse_redis_place("redis://" + s.cluster.address(0) + "/")).hosts.at(0));
  for (int i = 0; i < 8; ++i) {
    ServerLink both(place, "");
    const int64_t end_ms = system_clock().boot_ms() + 3'000;
    bool is_answered = false;
    while (!is_answered && system_clock().boot_ms() < end_ms) is_answered = both.ask(commands).at(0).ok();
    CHECK(is_answered);
  }
}

}  // namespace fq::test
