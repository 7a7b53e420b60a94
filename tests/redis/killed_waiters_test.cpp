// killed_waiters_test - who was killed while it waited is not taken for one that waits.

// System.
#include <optional>
#include <string>
// Tests.
#include "tests/redis/fixture.h"
#include "tests/redis/waiter.h"

namespace fq::test {

TEST_CASE("those who were killed while they waited are struck out, and no others") {
  const TestServer server;
  const std::string tag = "fq1:fq:{default:0:0}:";
  const auto queue = open_on(real_time_engine(), server.spool());
  const bool is_some_alive = GENERATE(true, false);
  std::optional<Waiter> waiter;
  if (is_some_alive)
    waiter.emplace(open_on(real_time_engine(), server.spool("?poll=60s")), until_there(), "a");
  if (is_some_alive) wait_until([&] { return command(server, {"ZCARD", tag + "bf"}).number == 1; });
  push_one(*queue, "other", "x");
  constexpr int kDead = 40;
  for (int i = 0; i < kDead; ++i) {
    const std::string nonce = "dead56789" + std::to_string(10 + i),
                      tenant = i % 2 == 0 ? "a" : "b" + std::to_string(i);
    command(server, {"ZADD", tag + "bf", "+inf", nonce + tenant});
    const std::string others = command(server, {"HGET", tag + "bt", tenant}).text;
    command(server, {"HSET", tag + "bt", tenant, others + nonce});
  }
  command(server, {"HSET", tag + "h", "waiters", "41"});
  for (int i = 0; i < 4 * kDead; ++i) push_one(*queue, "other", "x");
  CHECK(command(server, {"ZCARD", tag + "bf"}).number == (is_some_alive ? 1 : 0));
  CHECK(command(server, {"HLEN", tag + "bt"}).number == (is_some_alive ? 1 : 0));
  CHECK(command(server, {"HGET", tag + "h", "waiters"}).text == (is_some_alive ? "1" : "0"));
  if (!is_some_alive) return;
  push_one(*queue, "a", "x");
  CHECK(waiter->reply().deliveries.at(0).tenant == "a");
}

}  // namespace fq::test
