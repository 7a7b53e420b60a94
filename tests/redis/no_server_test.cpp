// no_server_test - where a server does not answer, or one is cut off from its cluster: who asks is told in
// time, and goes to another where there is one.

// System.
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <thread>
#include <vector>
// fq, below us.
#include "core/base/descriptor.h"
#include "core/redis/wire/nodes.h"
#include "core/redis/wire/sockets.h"
// Tests.
#include "tests/redis/impostor.h"
#include "tests/redis/on_cluster.h"
#include "tests/redis/waiter.h"

namespace fq::test {

namespace {

/// An address at which nobody answers: as many wait there as may, and whoever else comes hears nothing.
class Silent {
 public:
  Silent() {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(listener_.get(), address(), sizeof address_) == 0);
    socklen_t length = sizeof address_;
    REQUIRE(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address_), &length) == 0);
  }
  void listen() { REQUIRE(::listen(listener_.get(), 8) == 0); }
  void fall_silent() {
    REQUIRE(::listen(listener_.get(), 0) == 0);
    for (int i = 0; i < 4; ++i) {
      Descriptor one(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      static_cast<void>(::connect(one.get(), address(), sizeof address_));
      waiting_.push_back(std::move(one));
    }
  }
  addrinfo info(addrinfo* next) {
    addrinfo found{};
    found.ai_family = AF_INET;
    found.ai_addr = reinterpret_cast<sockaddr*>(&address_);
    found.ai_addrlen = sizeof address_;
    found.ai_next = next;
    return found;
  }

 private:
  const sockaddr* address() const { return reinterpret_cast<const sockaddr*>(&address_); }

  sockaddr_in address_{};
  Descriptor listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::vector<Descriptor> waiting_;
};

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
    CHECK(ms < 9'000);  // one after the other they would take 19 s
    REQUIRE(!reply.ok());
    CHECK(reply.error().kind == ErrorKind::later);  // it only looked
  }
  s.server.go_on();
  const int64_t end_ms = system_clock().boot_ms() + 5'000;
  bool is_answered = false;
  while (!is_answered && system_clock().boot_ms() < end_ms) is_answered = queue->lease(for_a_minute()).ok();
  CHECK(is_answered);
}

TEST_CASE("of several addresses one that does not answer leaves the others their time") {
  Silent silent, other;
  silent.fall_silent();
  other.listen();
  addrinfo second = other.info(nullptr), first = silent.info(&second);
  Descriptor socket;
  const int64_t ms = ms_of([&] { socket = connect_to_one_of(&first, system_clock().boot_ms() + 5'000); });
  CHECK(socket);
  CHECK(ms < 4'900);
  second = silent.info(nullptr);
  CHECK(!connect_to_one_of(&first, system_clock().boot_ms() + 200));
  CHECK(errno == ETIMEDOUT);
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

TEST_CASE("servers of a cluster may have ever new addresses") {
  constexpr int64_t kMasters = 600, kEach = int64_t{kSlots} / kMasters;
  int round = 0;
  const Impostor impostor(Impostor::Answer([&](const std::string& asked) {
    if (asked.find("INFO") != std::string::npos)
      return as_bulk(
          "# Server\r\nredis_version:7.0.15\r\nredis_mode:cluster\r\nrole:master\r\nrun_id:r\r\n"
          "maxmemory_policy:noeviction\r\nconnected_slaves:0\r\n");
    std::string table = "*" + std::to_string(kMasters) + "\r\n";
    for (int64_t i = 0; i < kMasters; ++i) {
      const int64_t last = i + 1 < kMasters ? (i + 1) * kEach - 1 : int64_t{kSlots} - 1;
      const std::string host =
          "127." + std::to_string(round) + "." + std::to_string(i / 250) + "." + std::to_string(1 + i % 250);
      table += "*3\r\n:" + std::to_string(i * kEach) + "\r\n:" + std::to_string(last) + "\r\n*2\r\n" +
               as_bulk(host) + ":1\r\n";
    }
    return table;
  }));
  Nodes nodes(answered(parse_redis_place(impostor.spool())), "");
  for (round = 1; round <= 4; ++round) {
    const std::string host = "127." + std::to_string(round) + ".";
    std::string told;
    const int64_t end_ms = system_clock().boot_ms() + 2'000;
    while (told.find(host) != 0 && system_clock().boot_ms() < end_ms) {
      nodes.forget();
      const auto found = nodes.of_key("key");
      told = found ? (*found)->name() : found.error().text;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    INFO(told);
    CHECK(told.find(host) == 0);
  }
}

}  // namespace fq::test
