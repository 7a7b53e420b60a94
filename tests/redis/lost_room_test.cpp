// lost_room_test - room of a queue that lies in many shards, which is lost on its way or forgotten: there is
// never more than the queue's limits say, and none is lost for good.
#include "tests/redis/relay.h"
#include "tests/redis/shared_room.h"

// System.
#include <atomic>
#include <chrono>
#include <thread>

namespace fq::test {

TEST_CASE("room that was lent and does not arrive is lent again to its shard, and later to others") {
  Sharded s(4);
  std::string other;
  const auto [first, second] = one_of_two(s, other);
  REQUIRE(s.queue->policy_set("", most(PolicyKey::max_messages, 3)).ok());
  Client dies(s.server);
  const std::string loan = dies.borrow(s.server, kMessages, shard_of(first), 1);
  REQUIRE(!loan.empty());
  SECTION("to its shard") { CHECK(takes(*s.queue, "a")); }
  SECTION("to its shard, where it comes twice") {
    for (int i = 0; i < 2; ++i) dies.bring(shard_of(first), loan);
    CHECK(share_of(s.server, shard_of(first), kMessages) == 2);
    CHECK(takes(*s.queue, "a"));
  }
  SECTION("to another, once it is late") {
    CHECK(room_refusal(*s.queue, other).find("of which shards have the rest") != std::string::npos);
    bool is_taken = false;
    for (int i = 0; !is_taken && i < 100; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      is_taken = takes(*s.queue, other);
    }
    CHECK(is_taken);
    dies.bring(shard_of(first), loan);
    CHECK(share_of(s.server, shard_of(first), kMessages) == 1);
  }
  CHECK(taken_of(*s.queue, 20) == 0);
  CHECK(is_well(*s.queue));
}

TEST_CASE("whoever forgets what it has of a limit of messages, there are never more") {
  Sharded s(4);
  std::string other;
  const auto [first, second] = one_of_two(s, other);
  REQUIRE(s.queue->policy_set("", most(PolicyKey::max_messages, 4)).ok());
  REQUIRE(takes(*s.queue, "a"));
  SECTION("the purse") { command(s.server, {"DEL", purse_key(s.server, kMessages)}); }
  SECTION("the server of the purse") {
    const std::string key = purse_key(s.server, kMessages);
    command(s.server, {"HSET", key.substr(0, key.rfind("pu:")) + "h", "run", "another"});
    command(s.server, {"HSET", key, "run", "another"});
  }
  SECTION("a shard that has given back what it did not use") {
    REQUIRE(settled(*s.queue, taken(*s.queue, 1).at(0)) == 1);
    const std::string root = tag_of(s.server, shard_of(first)) + "h";
    const std::string lent = command(s.server, {"HGET", root, "lent"}).text;
    REQUIRE(takes(*s.queue, other));
    REQUIRE(takes(*s.queue, other));
    command(s.server, {"HSET", root, "lent", lent, "run", "another"});
  }
  while (sums(*s.queue).ready < 4) REQUIRE(takes(*s.another(), sums(*s.queue).ready % 2 == 0 ? "a" : other));
  CHECK(taken_of(*s.queue, 20) == 0);
  CHECK(shard_of(second) != shard_of(first));
  Client client(s.server);
  for (size_t shard = 0; shard < 4; ++shard)  // a refusal has not written what it has found
    REQUIRE(client.shards.at(shard).shard().tick().ok());
  CHECK(is_well(*s.queue));
}

TEST_CASE("a push for whose room an answer was lost is refused: of the push itself nothing was done") {
  Sharded s(4);
  std::string other;
  one_of_two(s, other);
  REQUIRE(s.queue->policy_set("", most(PolicyKey::max_messages, 4)).ok());
  std::atomic<bool> is_cut = true;
  Relay* line = nullptr;
  Relay relay(s.server, [&](const std::string& asked) {
    if (is_cut && asked.find("lent_take") != std::string::npos) line->cut();
    return std::string();
  });
  line = &relay;
  const auto queue = open_on(real_time_engine(), relay.spool("?timeout=2s"));
  const NewMessage message = message_for("a");
  const Result<PushReply> refused = queue->push({&message, 1});
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::later);
  CHECK(sums(*s.queue).ready == 2);
  is_cut = false;
  CHECK(takes(*queue, "a"));
  CHECK(taken_of(*queue, 20) == 1);
  CHECK(is_well(*s.queue));
}

TEST_CASE("check finds room over shards that does not agree, and repair counts it anew") {
  Sharded s(4);
  std::string other;
  const auto [first, second] = one_of_two(s, other);
  REQUIRE(s.queue->policy_set("", most(PolicyKey::max_messages, 4)).ok());
  REQUIRE(takes(*s.queue, "a"));
  REQUIRE(is_well(*s.queue));
  const std::string root = tag_of(s.server, shard_of(first)) + "h";
  std::string lent = command(s.server, {"HGET", root, "lent"}).text;
  const double share = GENERATE(9.0, 0.0);  // more than there is, and less than it uses
  lent.replace(8 + 3 * sizeof share, sizeof share,
               std::string(reinterpret_cast<const char*>(&share), sizeof share));
  command(s.server, {"HSET", root, "lent", lent});
  const CheckReport found = answered(s.queue->check());
  std::string lines;
  for (const std::string& line : found.findings.lines) lines += line + "\n";
  CHECK(lines.find("the queue, max_messages: ") != std::string::npos);
  const CheckReport repaired = answered(s.queue->check({.repair = true}));
  CHECK(repaired.repairs.empty() == (share == 0));  // by the first call that is made there
  CHECK(is_well(*s.queue));
  CHECK(taken_of(*s.queue, 20) == 1);
  CHECK(shard_of(second) != shard_of(first));
}

TEST_CASE("a queue with room over all shards is removed without a key left") {
  Sharded s;
  REQUIRE(s.queue->policy_set("", most(PolicyKey::max_messages, 5)).ok());
  REQUIRE(s.queue->policy_set("", most(PolicyKey::max_bytes, 100)).ok());
  CHECK(taken_of(*s.queue, 20) == 5);
  REQUIRE(s.engine_.remove(s.location()).ok());
  CHECK(keys_of(s.server).empty());
}

}  // namespace fq::test
