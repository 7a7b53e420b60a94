// killed_waiters_test - who was killed while it waited is not taken for one that waits.

// System.
#include <optional>
#include <string>
// Tests.
#include "tests/redis/awaited_scene.h"

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

TEST_CASE("those killed while they waited for what never comes are struck out, and no others") {
  const TestServer server;
  const std::string tag = "fq1:fq:{default:0:0}:", kinds = "eoilr";
  const auto queue = open_on(real_time_engine(), server.spool());
  const auto patient = open_on(real_time_engine(), server.spool("?poll=60s"));
  const MessageId id = push_one(*queue, "other", "x");
  std::optional<InThread<bool>> waiter;
  const bool is_some_alive = GENERATE(true, false);
  if (is_some_alive)
    waiter.emplace([&](Interrupt& interrupt) {
      EndRequest request;
      request.ids = {&id, 1};
      request.interrupt = &interrupt;
      return patient->await_end(request).ok();
    });
  if (is_some_alive) wait_until([&] { return command(server, {"ZCARD", tag + "be"}).number == 1; });
  constexpr int kDead = 40;
  for (const char kind : kinds) {
    for (int i = 0; i < kDead; ++i)
      command(server, {"ZADD", tag + "b" + kind, "999999", "dead56789" + std::to_string(10 + i) + "gone"});
  }
  command(server, {"HSET", tag + "h", "awaited", kinds});
  for (int i = 0; i < 10 * kDead; ++i) push_one(*queue, "other", "x");
  int64_t left = 0;
  for (const char kind : kinds) left += command(server, {"ZCARD", tag + "b" + kind}).number;
  CHECK(left == (is_some_alive ? 1 : 0));
  CHECK(command(server, {"HGET", tag + "h", "awaited"}).text == (is_some_alive ? "e" : ""));
}

}  // namespace fq::test
