// ids_test - ids go on behind all that a server may have given and lost, and tell their shard, to the last
// one that there is.

// System.
#include <set>
#include <string>
// fq, below us.
#include "core/redis/catalog/queue_entry.h"
#include "core/redis/records/records.h"
// Tests.
#include "tests/redis/sharded_fixture.h"

namespace fq::test {

namespace {

constexpr uint64_t kIdMax = (uint64_t{1} << 53) - 1;
constexpr uint64_t kStepOfShards = 1'024;
constexpr uint64_t kJumpMost = uint64_t{1} << 37;

/// The shard was another server's until then.
void was_of_another(const Sharded& s, uint64_t shard, const std::string& until_ms) {
  command(s.server, {"HSET", tag_of(s.server, shard) + "h", "run", "another", "now", until_ms});
}

/// A queue of one shard or more, with a message in it.
struct FirstOne : Sharded {
  explicit FirstOne(uint32_t shards)
      : Sharded(shards),
        step(shards == 1 ? 1 : kStepOfShards),
        first(push_one(*queue, "a", "x")),
        shard(shards == 1 ? 0 : shard_of(first)) {}

  const uint64_t step;
  const MessageId first;
  const uint64_t shard;  // in which it is
};

}  // namespace

TEST_CASE("after a time of any length ids go on so much farther, and tell their shard") {
  const FirstOne s(GENERATE(1U, 4U));
  was_of_another(s, s.shard, "1");  // in 1970
  const MessageId next = push_one(*s.queue, "a", "x");
  CHECK(number(next) == number(s.first) + (kJumpMost + 1) * s.step);
  CHECK(answered(s.queue->get(next)).has_value());
}

TEST_CASE("where no id is left a push is refused, and all that is there is served") {
  const FirstOne s(GENERATE(1U, 4U));
  const uint64_t last = kIdMax - (kIdMax - number(s.first)) % s.step;
  const std::string root = tag_of(s.server, s.shard) + "h";
  SECTION("they were given one after the other") {
    command(s.server, {"HSET", root, "n", std::to_string(last - s.step)});
    CHECK(number(push_one(*s.queue, "a", "x")) == last);
  }
  SECTION("another server may have given them") {
    command(s.server, {"HSET", root, "n", std::to_string(last - 5 * s.step)});
    was_of_another(s, s.shard, "1");
  }
  NewMessage message = message_for("a");
  const Result<PushReply> refused = s.queue->push({&message, 1});
  if (refused) {
    REQUIRE(refused->error);
    CHECK(refused->error->text.find("has given all ids") != std::string::npos);
  } else {
    CHECK(refused.error().text.find("has given all ids") != std::string::npos);
  }
  CHECK(answered(s.queue->lease(for_a_minute())).deliveries.at(0).id == s.first);
  CHECK(command(s.server, {"HGET", root, "n"}).text == std::to_string(last));
}

TEST_CASE("that two sessions have one name is as unlikely as of 2^53 names") {
  CHECK(5 * kNonceBytes >= 53);
  const Sharded s(GENERATE(1U, 4U));
  std::set<std::string> names;
  for (int i = 0; i < 5; ++i) {
    const auto client = s.another();
    push_one(*client, "t", "x");
    names.insert(std::string(answered(client->lease(for_a_minute())).deliveries.at(0).receipt.parts()->mark));
  }
  CHECK(names.size() == 5);
  for (const std::string& each : names) CHECK(each.size() == kMarkLength + kNonceBytes);
}

}  // namespace fq::test
