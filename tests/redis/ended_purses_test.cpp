// ended_purses_test - limits over all shards that are none any more leave no purse.

// Tests.
#include "tests/redis/purses_fixture.h"

namespace fq::test {

TEST_CASE(
    "of a pool that is gone no purse is left, whoever asks for it late, and it begins anew when it comes "
    "again") {
  Sharded s;
  const auto purses = [&] { return keys_of(s.server, "*pu:*").size(); };
  REQUIRE(s.queue->policy_load(with_pool(2), {.inode = 1}).ok());
  for (int i = 0; i < 8; ++i) {
    push_one(*s.queue, "t" + std::to_string(i), "x");
    REQUIRE(s.queue->policy_set("t" + std::to_string(i), in_pool("p")).ok());
  }
  CHECK(taken(*s.queue, 20).size() == 2);
  REQUIRE(purses() == 1);
  for (int i = 0; i < 8; ++i) REQUIRE(s.queue->policy_set("t" + std::to_string(i), in_pool("")).ok());
  REQUIRE(s.queue->policy_load({}, {.inode = 2}).ok());
  CHECK(purses() == 0);
  Client late(s.server);
  Packer asked;
  for (const double each : {16.0, 0.0, 1.0, 1.0, 7.0}) asked.number(each);
  const size_t home = late.shards.of_tenant("c:p");
  const Reply answer =
      answered(late.shards.at(home).shard().change("change", {"purse", "c:p", asked.bytes(), ""})).at(1);
  CHECK(answer.at(0).text == "none");
  CHECK(purses() == 0);
  REQUIRE(s.queue->policy_load(with_pool(3), {.inode = 3}).ok());
  for (int i = 0; i < 8; ++i) REQUIRE(s.queue->policy_set("t" + std::to_string(i), in_pool("p")).ok());
  CHECK(taken(*s.queue, 20).size() == 1);
  CHECK(is_well(*s.queue));
  REQUIRE(s.queue->policy_set("", concurrency(3)).ok());
  CHECK(purses() == 2);
  REQUIRE(s.queue->policy_set("", {{}, {PolicyKey::concurrency}}).ok());
  CHECK(purses() == 1);
}

TEST_CASE("check finds the purse of a limit that is none any more, once, and repair takes it away") {
  Sharded s(4);
  push_one(*s.queue, "t", "x");
  command(s.server, {"HSET", tag_of(s.server, 1) + "pu:c:old", "run", "x"});
  const CheckReport found = answered(s.queue->check());
  REQUIRE(found.findings.count == 1);
  CHECK(found.findings.lines.at(0) == "shard 1: purse c:old: its limit is none any more");
  const CheckReport repaired = answered(s.queue->check({.repair = true}));
  CHECK(repaired.findings.empty());
  CHECK(repaired.repairs.count == 1);
  CHECK(keys_of(s.server, "*pu:*").empty());
}

}  // namespace fq::test
