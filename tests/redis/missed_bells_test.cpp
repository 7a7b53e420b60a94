// missed_bells_test - who takes itself for one that is told, and is not, is told late: nobody does.
//
// Patience is 60 s in these, far longer than a test waits for anything.

// System.
#include <atomic>
#include <string>
// Tests.
#include "tests/redis/relay.h"
#include "tests/redis/sharded_fixture.h"
#include "tests/redis/waiter.h"

namespace fq::test {

TEST_CASE("who cannot be noted down by many shards looks until it is") {
  const Sharded s(4);
  std::atomic<int> refused = 0;
  std::atomic<bool> refuses = true;
  const Relay relay(s.server, [&](const std::string& asked) {
    std::string answers;
    for (size_t at = 0; refuses && (at = asked.find("_listen\r\n", at)) != std::string::npos; ++at) {
      answers += "-NOREPLICAS Not enough good replicas to write.\r\n";
      ++refused;
    }
    return answers;
  });
  Waiter waiter(open_on(real_time_engine(), relay.spool("?poll=60s")));
  wait_until([&] { return refused >= 12; });  // each of them three times
  refuses = false;
  wait_until([&] { return command(s.server, {"ZCARD", tag_of(s.server, 3) + "bw"}).number == 1; });
  push_one(*s.queue, "t", "x");
  CHECK(waiter.reply().deliveries.size() == 1);
}

TEST_CASE("what was in a shard that did not answer is found when it does") {
  const Sharded s(4);
  const std::string tenant = account_in(*s.queue, 3);
  push_one(*s.queue, tenant, "x");
  std::atomic<int> looks = 0;
  const Relay relay(s.server, [&](const std::string& asked) {
    if (asked.find("\r\nweight\r\n") == std::string::npos || looks >= 3) return std::string();
    ++looks;
    std::string nothing = "*6\r\n";
    for (int i = 0; i < 6; ++i) nothing += "$-1\r\n";
    return nothing + nothing + nothing + "-LOADING it reads its data\r\n*2\r\n$1\r\n1\r\n$1\r\n0\r\n";
  });
  Waiter waiter(open_on(real_time_engine(), relay.spool("?poll=60s")));
  CHECK(waiter.reply().deliveries.at(0).tenant == tenant);
  CHECK(looks == 3);
}

TEST_CASE("what comes in one piece with the answer before it is heard") {
  const Sharded s(4);
  const std::string tenant = account_in(*s.queue, 3);
  std::atomic<int> asked_for = 0;
  const Relay relay(s.server, [&](const std::string& asked) {
    static const std::string kWord = "SSUBSCRIBE\r\n";
    std::string answers, channel;  // and its length
    size_t at = asked.find(kWord);
    if (at == std::string::npos || asked_for++ > 0) return answers;
    for (; at != std::string::npos; at = asked.find(kWord, at)) {
      at += kWord.size();
      const size_t end = asked.find("\r\n", asked.find("\r\n", at) + 2) + 2;
      channel = asked.substr(at, end - at);
      answers += "*3\r\n$10\r\nssubscribe\r\n" + channel + ":1\r\n";
    }
    return answers + "*3\r\n$12\r\nsunsubscribe\r\n" + channel + ":0\r\n";
  });
  Waiter waiter(open_on(real_time_engine(), relay.spool("?poll=60s")));
  wait_until([&] { return asked_for == 2; });
  push_one(*s.queue, tenant, "x");
  CHECK(waiter.reply().deliveries.at(0).tenant == tenant);
}

}  // namespace fq::test
