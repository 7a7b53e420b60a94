// cluster_bells_test - who waits for a queue on several servers is told by each, also of shards that move.
#include "tests/redis/on_cluster.h"
#include "tests/redis/waiter.h"

// System.
#include <algorithm>

namespace fq::test {

namespace {

const TestServer& owner(const OnCluster& s, const std::string& tag) {
  return s.cluster.node(s.cluster.owner_of(tag));
}

/// An account that lies in this shard; nothing of it is left.
std::string account_of(OnCluster& s, uint64_t shard) {
  std::string tenant;
  for (int i = 0;; ++i) {
    tenant = "t" + std::to_string(i);
    const bool is_it = shard_of(push_one(*s.queue, tenant, "x")) == shard;
    answered(s.queue->lease(for_a_minute()));
    if (is_it) return tenant;
  }
}

}  // namespace

TEST_CASE("who waits is told by each server of a cluster, and by the one that has a shard from now on") {
  const uint32_t shards = GENERATE(1U, 16U);
  const bool moves = GENERATE(false, true);
  CAPTURE(shards, moves);
  OnCluster s(shards, three(), "&poll=10s");  // longer than anybody waits here
  const std::string tenant = account_of(s, shards - 1);
  const std::vector<std::string> tags = s.tags();
  const std::string& tag = tags.back();
  Waiter waiter(s.another());
  wait_until([&] {
    return std::all_of(tags.begin(), tags.end(), [&](const std::string& each) {
      return command(owner(s, each), {"ZCARD", each + "bw"}).number == 1;
    });
  });
  if (moves) {
    const size_t from = s.cluster.owner_of(tag), to = (from + 1) % 3;
    s.cluster.begin_move(tag, from, to);
    s.cluster.move_keys(s.cluster.keys_of(tag, from), from, to);
    s.cluster.end_move(tag, to);
    if (GENERATE(false, true)) {  // there it is heard, too
      wait_until([&] {
        return command(owner(s, tag), {"PUBSUB", "SHARDCHANNELS", tag + "*"}).items.size() == 1;
      });
    }
  }
  push_one(*s.queue, tenant, "x");
  CHECK(waiter.reply().deliveries.at(0).tenant == tenant);
  if (!moves) return;
  const size_t there = s.cluster.owner_of(tag), back = (there + 2) % 3;  // other tests count who has what
  s.cluster.begin_move(tag, there, back);
  s.cluster.move_keys(s.cluster.keys_of(tag, there), there, back);
  s.cluster.end_move(tag, back);
}

}  // namespace fq::test
