// shown_twice_test - a queue that goes on while it is checked: what is looked at in pages is looked at once.

// System.
#include <string>
#include <vector>
// Tests.
#include "tests/redis/relay.h"

namespace fq::test {

/// A hash that grows and shrinks while it is walked through shows some of what it has again.
TEST_CASE("a limit that is wrong is told once, however often the server shows it") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  REQUIRE(queue->policy_set("t", {{{PolicyKey::max_messages, 10, 0, {}}}, {}}).ok());
  push_one(*queue, "t", "x");
  const std::string amounts = "fq1:fq:{default:0:0}:am", wrong = command(server, {"HGET", amounts, "t"}).text;
  const std::string grow = "for i = 1, 15000 do redis.call('HSET', KEYS[1], 'x' .. i, ARGV[1]) end",
                    shrink = "for i = 1, 15000 do redis.call('HDEL', KEYS[1], 'x' .. i) end";
  std::string well = wrong;
  well.replace(16, 16, std::string(16, '\0'));
  bool grows = true;
  const Relay relay(server, [&](const std::string& asked) {
    if (asked.find("check_limits") == std::string::npos) return "";
    command(server, {"EVAL", grows ? grow : shrink, "1", amounts, well});
    grows = !grows;
    return "";
  });
  const auto checker = open_on(told_time_engine(), relay.spool(), &clock);
  // Which ones are shown again is by chance, and by their names.
  constexpr size_t kWrong = 1'000;  // they have nothing, and count one
  for (const char* name : {"one", "two", "three"}) {
    command(server, {"DEL", amounts});
    command(server, {"HSET", amounts, "t", wrong});  // which it is of
    for (size_t i = 0; i < kWrong; ++i) command(server, {"HSET", amounts, name + std::to_string(i), wrong});
    CHECK(answered(checker->check()).findings.count == kWrong);
  }
}

TEST_CASE("a record that is lost is found, also while what comes before it is acked") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  MessageId last{};
  for (int i = 0; i < 600; ++i) last = push_one(*queue, "t", "x");
  command(server, {"DEL", "fq1:fq:{default:0:0}:m:" + std::to_string(number(last))});
  size_t pages = 0;
  const Relay relay(server, [&](const std::string& asked) {
    if (asked.find("check_index") == std::string::npos || ++pages != 2) return "";
    const LeaseReply taken = answered(queue->lease(for_a_minute(200)));
    std::vector<Settle> done(taken.deliveries.size());
    for (size_t i = 0; i < done.size(); ++i) done[i].receipt = taken.deliveries[i].receipt;
    answered(queue->settle(done));
    return "";
  });
  const CheckReport report = answered(open_on(told_time_engine(), relay.spool(), &clock)->check());
  CHECK(pages == 2);
  REQUIRE(report.findings.count == 1);
  CHECK(report.findings.lines[0] == "message " + std::to_string(number(last)) + ": its record is missing");
}

}  // namespace fq::test
