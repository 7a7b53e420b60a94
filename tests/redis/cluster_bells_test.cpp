// cluster_bells_test - who waits for a queue on several servers is told by each, also of shards that move.
#include "tests/redis/on_cluster.h"
#include "tests/redis/waiter.h"

// System.
#include <algorithm>
#include <optional>
#include <string>

namespace fq::test {

namespace {

const TestServer& owner(const OnCluster& s, const std::string& tag) {
  return s.cluster.node(s.cluster.owner_of(tag));
}

/// It is at the next server, and goes back: other tests count who has what.
class Moved {
 public:
  Moved(TestCluster& cluster, const std::string& tag)
      : cluster_(cluster), tag_(tag), from_(cluster.owner_of(tag)) {
    move_to((from_ + 1) % cluster_.size());
  }
  ~Moved() { move_to(from_); }
  Moved(const Moved&) = delete;
  Moved& operator=(const Moved&) = delete;

 private:
  void move_to(size_t to) {
    const size_t from = cluster_.owner_of(tag_);
    cluster_.begin_move(tag_, from, to);
    cluster_.move_keys(cluster_.keys_of(tag_, from), from, to);
    cluster_.end_move(tag_, to);
  }

  TestCluster& cluster_;
  const std::string tag_;
  const size_t from_;
};

}  // namespace

TEST_CASE("who waits is told by each server of a cluster, and by the one that has a shard from now on") {
  const uint32_t shards = GENERATE(1U, 16U);
  const bool moves = GENERATE(false, true);
  CAPTURE(shards, moves);
  OnCluster s(shards, three(), "&poll=10s");  // longer than anybody waits here
  const std::string tenant = account_in(*s.queue, shards - 1);
  const std::vector<std::string> tags = s.tags();
  const std::string& tag = tags.back();
  Waiter waiter(s.another());
  wait_until([&] {
    return std::all_of(tags.begin(), tags.end(), [&](const std::string& each) {
      return command(owner(s, each), {"ZCARD", each + "bw"}).number == 1;
    });
  });
  std::optional<Moved> moved;
  if (moves) {
    moved.emplace(s.cluster, tag);
    if (GENERATE(false, true)) {  // there it is heard, too
      wait_until([&] {
        return command(owner(s, tag), {"PUBSUB", "SHARDCHANNELS", tag + "*"}).items.size() == 1;
      });
    }
  }
  push_one(*s.queue, tenant, "x");
  CHECK(waiter.reply().deliveries.at(0).tenant == tenant);
}

}  // namespace fq::test
