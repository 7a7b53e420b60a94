// tolls_fixture - what the tests of turns that are paid by something else, between shards, share.
#pragma once

// System.
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>
// Tests.
#include "tests/redis/sharded_fixture.h"

namespace fq::test {

inline void set_for(Queue& queue, std::string_view path, PolicyKey key, int64_t number) {
  REQUIRE(queue.policy_set(path, {{{key, number, 0, {}}}, {}}).ok());
}
inline void set_fair_by(Queue& queue, FairBy what) {
  set_for(queue, "", PolicyKey::fair_by, static_cast<int64_t>(what));
}

/// Names of accounts that lie in a shard of their own each. What was pushed to find them is gone.
inline std::vector<std::string> names_apart(Queue& queue, size_t count) {
  std::vector<std::string> names;
  std::vector<MessageId> ids;
  std::set<uint64_t> shards;
  for (int i = 0; names.size() < count; ++i) {
    const std::string name = "t" + std::to_string(i);
    ids.push_back(push_one(queue, name, "x"));
    if (shards.insert(shard_of(ids.back())).second) names.push_back(name);
  }
  REQUIRE(answered(queue.mutate(ids, Action::cancel)).changed == ids.size());
  return names;
}

/// Where time is told what is drawn is the same in each run, and here so are the shards.
struct ToldShards {
  ToldShards() : sharded(kShards, told_time_engine(), &clock) {
    command(sharded.server, {"HSET", "fq1:fq:{default}:meta", "spread", std::string(32, '7')});
    sharded.queue = another();
  }
  std::unique_ptr<Queue> another() { return sharded.another(&clock); }
  Queue& queue() { return *sharded.queue; }

  FakeClock clock;
  Sharded sharded;
};

inline void end_run(Queue& queue, const Receipt& receipt, uint64_t run_us) {
  Settle item;
  item.receipt = receipt;
  item.run_us = run_us;
  REQUIRE(answered(queue.settle({&item, 1})).items.at(0) == SettleStatus::ok);
}

}  // namespace fq::test
