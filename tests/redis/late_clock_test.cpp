// late_clock_test - turns of a queue whose clock has come so far that a server's numbers have no ones any
// more.

// System.
#include <cstring>
// Tests.
#include "tests/redis/fixture.h"

namespace fq::test {

namespace {

constexpr double kLate = 0x1p59;             // 2^59 + 1 is 2^59 there
constexpr size_t kTagAt = 2, kClockAt = 18;  // see core/redis/lua/keys/records.lua

void put_number(const TestServer& server, const std::string& key, size_t at, double number) {
  std::string bytes = command(server, {"GET", key}).text;
  REQUIRE(bytes.size() >= at + sizeof number);
  std::memcpy(bytes.data() + at, &number, sizeof number);
  command(server, {"SET", key, bytes});
}

/// The clock of all turns, and the seats that there are, are as late as that.
void be_late(const TestServer& server, const std::string& tag) {
  put_number(server, tag + "n:", kClockAt, kLate);
  for (const Reply& seat : command(server, {"ZRANGE", tag + "r:", "0", "-1"}).items) {
    put_number(server, tag + "n:" + seat.text.substr(8), kTagAt, kLate);
    command(server, {"ZADD", tag + "r:", "576460752303423488", seat.text});
  }
}

}  // namespace

TEST_CASE("who has short turns pays for them however late a queue's clock is, and others have theirs") {
  const TestServer server;
  const auto queue = open_on(real_time_engine(), server.spool());
  REQUIRE(
      queue->policy_set("", {{{PolicyKey::fair_by, static_cast<int64_t>(FairBy::bytes), 0, {}}}, {}}).ok());
  REQUIRE(queue->policy_set("heavy", {{{PolicyKey::weight, 1'000'000, 0, {}}}, {}}).ok());
  std::vector<NewMessage> many(1'000);
  for (NewMessage& each : many) each.tenant = "heavy", each.payload = as_bytes("x");
  for (int i = 0; i < 2; ++i) answered(queue->push(many));
  for (int i = 0; i < 5; ++i) push_one(*queue, "light", "x");
  be_late(server, "fq1:fq:{default:0:0}:");
  size_t of_light = 0;
  for (int i = 0; i < 15; ++i) {
    for (const Delivery& each : answered(queue->lease(for_a_minute(100))).deliveries) {
      if (each.tenant == "light") ++of_light;
    }
  }
  CHECK(of_light > 2);  // one of them sat there when the clock was set
  CHECK(answered(queue->check()).findings.empty());
}

}  // namespace fq::test
