// missed_settings_test - what was set of a queue of several shards while some were away, or by a command that
// did not come to its end.

// System.
#include <string>
// fq, below us.
#include "core/redis/policy/redis_policy.h"
// Tests.
#include "tests/redis/purses_fixture.h"
#include "tests/redis/sharded_fixture.h"

namespace fq::test {

namespace {

const PolicyPatch kSevenAttempts{{{PolicyKey::attempts, 7, 0, {}}}, {}};
const PolicyPatch kPaused{{{PolicyKey::paused, 1, 0, {}}}, {}};

std::string field(const TestServer& server, uint64_t shard, std::string_view name) {
  return command(server, {"HGET", tag_of(server, shard) + "h", name}).text;
}

/// As a shard has it that was away.
void misses(const TestServer& server, uint64_t shard) {
  const std::string root = tag_of(server, shard) + "h";
  command(server, {"HSET", root, "set", ""});
  command(server, {"HDEL", root, "set_at"});
}

std::string set_of(Queue& queue) {
  std::string text;
  for (const PolicyOverride& each : answered(queue.policy_overrides({}, 9)).overrides) {
    for (const PolicyValue& value : each.values)
      text += std::to_string(static_cast<int>(value.key)) + "=" + std::to_string(value.number) + " ";
  }
  for (const std::string& notice : queue.take_notices()) text += notice;
  return text;
}

}  // namespace

TEST_CASE("what a shard missed is set on it by whoever looks next") {
  Sharded s(4);
  REQUIRE(s.queue->policy_set("", kSevenAttempts).ok());
  const std::string all = set_of(*s.queue);
  CHECK(all == "13=7 ");
  misses(s.server, 2);
  CHECK(set_of(*s.queue).find("holds on some of its shards only") != std::string::npos);
  CHECK(answered(s.queue->policy_is_current({})));
  CHECK(set_of(*s.queue) == all);
  // Of several the latest, and with all of what holds there.
  misses(s.server, 0);
  REQUIRE(s.queue->policy_set("", kPaused).ok());
  misses(s.server, 3);
  CHECK(field(s.server, 0, "set_at") == field(s.server, 1, "set_at"));
  command(s.server,
          {"HSET", tag_of(s.server, 0) + "h", "set_at", field(s.server, 1, "set_at").substr(0, 19)});
  CHECK(answered(s.another()->policy_is_current({})));
  CHECK(set_of(*s.queue) == "13=7 22=1 ");
  for (uint64_t shard = 1; shard < 4; ++shard)
    CHECK(field(s.server, shard, "set_at") == field(s.server, 0, "set_at"));
  CHECK(answered(s.queue->check()).findings.empty());
}

TEST_CASE("what limits all shards counts anew where one of them had missed it") {
  Sharded s(4);
  REQUIRE(s.queue->policy_set("", {{{PolicyKey::concurrency, 3, 0, {}}}, {}}).ok());
  misses(s.server, 1);
  CHECK(answered(s.queue->policy_is_current({})));
  for (int i = 0; i < 40; ++i) push_one(*s.queue, "t" + std::to_string(i), "x");
  CHECK(answered(s.queue->lease(for_a_minute(40))).deliveries.size() == 3);
}

TEST_CASE("a shard keeps what was set of it later than of another one") {
  Sharded s(4);
  REQUIRE(s.queue->policy_set("", kSevenAttempts).ok());
  const Client client(s.server);
  const std::string before = field(s.server, 1, "set");
  Shard shard(client.access(s.server, nullptr), tag_of(s.server, 1), "a nonce");
  REQUIRE(RedisPolicy(shard).follow_set("", "0").ok());
  CHECK(field(s.server, 1, "set") == before);
  REQUIRE(RedisPolicy(shard).follow_set("", "1").ok());
  CHECK(field(s.server, 1, "set").empty());
}

TEST_CASE("a shard that cannot hold what it missed goes on without, and that is told") {
  Sharded s(2);
  const std::string account = account_in(*s.queue, 1);
  REQUIRE(s.queue->policy_set("", kSevenAttempts).ok());
  const std::string root = tag_of(s.server, 0) + "h", none = "it says nothing";
  command(s.server, {"HSET", root, "set", none, "set_at", "9"});
  static_cast<void>(s.queue->policy_is_current({}));
  push_one(*s.queue, account, "x");
  CHECK(answered(s.queue->lease(for_a_minute())).deliveries.size() == 1);
  CHECK(field(s.server, 1, "set") != none);
}

}  // namespace fq::test
