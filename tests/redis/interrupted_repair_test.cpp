// interrupted_repair_test - a repair on a server that is told to end before it is done.

// System.
#include <cerrno>
// Tests.
#include "tests/redis/relay.h"
#include "tests/redis/sharded_fixture.h"

namespace fq::test {

TEST_CASE("a repair that is told to end tells what it has done, and another does the rest") {
  const uint32_t shards = GENERATE(1U, 4U);
  Sharded s(shards);
  push_one(*s.queue, "a", "x");
  std::vector<std::string> tags;
  for (uint64_t i = 0; i < shards; ++i)
    tags.push_back(shards == 1 ? "fq1:fq:{default:0:0}:" : tag_of(s.server, i));
  // A place of a message that is not there, in the first shard and in the last.
  for (const std::string& tag : {tags.front(), tags.back()})
    command(s.server, {"ZADD", tag + "t", "1", "12345678"});
  Interrupt interrupt;
  const std::string tag = tags.back();
  const std::string last = shards == 1 ? "weight" : "place";  // of what the last one is asked to repair
  const Relay relay(s.server, [&](const std::string& asked) {
    if (asked.find(tag) != std::string::npos && asked.find("\r\n" + last + "\r\n") != std::string::npos)
      interrupt.raise();
    return std::string();
  });
  const auto queue = open_on(real_time_engine(), relay.spool());
  const Result<CheckReport> broken_off = queue->check({.repair = true, .interrupt = &interrupt});
  INFO(shards << " shards");
  REQUIRE(!broken_off);
  CHECK(broken_off.error().sys == EINTR);
  const std::vector<std::string> told = queue->take_notices();
  for (const std::string& line : told) UNSCOPED_INFO(line);
  if (shards == 1) REQUIRE(told.size() == 1);
  if (shards > 1) {
    REQUIRE(told.size() == 2);
    CHECK(told[0].starts_with("repaired: shard 0: "));
    CHECK(told[1].starts_with("repaired: shard " + std::to_string(shards - 1) + ": "));
  }
  for (const std::string& line : told) CHECK(line.starts_with("repaired: "));
  CHECK(queue->take_notices().empty());
  answered(s.queue->check({.repair = true}));
  CHECK(answered(s.queue->check()).findings.empty());
}

TEST_CASE("a check that is told to end while the last shard is looked at does not go on to what all share") {
  Sharded s(4);
  push_one(*s.queue, "a", "x");
  const std::string tag = tag_of(s.server, 3);
  std::atomic<int> asked_of_last = 0, ends_at = 0;
  Interrupt interrupt;
  const Relay relay(s.server, [&](const std::string& asked) {
    const bool is_last =
        asked.find(tag) != std::string::npos && asked.find("\r\ntenants\r\n") != std::string::npos;
    if (is_last && ++asked_of_last == ends_at) interrupt.raise();
    return std::string();
  });
  const auto queue = open_on(real_time_engine(), relay.spool());
  answered(queue->check({.interrupt = &interrupt}));
  ends_at = asked_of_last + 1;
  REQUIRE(ends_at > 1);
  const Result<CheckReport> broken_off = queue->check({.interrupt = &interrupt});
  REQUIRE(!broken_off);
  CHECK(broken_off.error().sys == EINTR);
}

}  // namespace fq::test
