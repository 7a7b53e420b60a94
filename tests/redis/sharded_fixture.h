// sharded_fixture - what the tests of queues that are cut into shards share.
#pragma once

// System.
#include <memory>
#include <string>
#include <utility>
// fq, below us.
#include "core/redis/shard/shard_places.h"
// Tests.
#include "tests/redis/fixture.h"

namespace fq::test {

inline constexpr uint32_t kShards = 16;

struct Sharded {
  explicit Sharded(uint32_t shards = kShards, const RedisEngine& engine = real_time_engine(),
                   Clock* clock = nullptr)
      : engine_(engine) {
    REQUIRE(answered(engine.create(location(), {.shards = shards})));
    queue = another(clock);
  }
  Location location() const { return {server.spool(), "default"}; }
  std::unique_ptr<Queue> another(Clock* clock = nullptr) const {
    return open_on(engine_, server.spool(), clock);
  }

  TestServer server;
  const RedisEngine& engine_;
  std::unique_ptr<Queue> queue;
};

/// What the keys of a shard of it begin with.
inline std::string tag_of(const TestServer& server, uint64_t shard) {
  const Reply places = command(server, {"HGET", "fq1:fq:{default}:meta", "places"});
  return "fq1:fq:{" + places_in(places.text).at(shard) + "}:";
}

/// Of all queues.
inline size_t parts_in(const AwayList& away) {
  size_t count = 0;
  for (const auto& [queue, parts] : away.queues()) count += parts.by_shard.size();
  return count;
}

inline uint64_t shard_of(MessageId id) { return number(id) % 1024; }

/// An account that lies in this shard; nothing of it is left to take.
inline std::string account_in(Queue& queue, uint64_t shard) {
  std::string tenant;
  for (int i = 0;; ++i) {
    tenant = "t" + std::to_string(i);
    const bool is_it = shard_of(push_one(queue, tenant, "x")) == shard;
    answered(queue.lease(for_a_minute()));
    if (is_it) return tenant;
  }
}

/// Two accounts that lie apart, as their first messages tell.
inline std::pair<MessageId, MessageId> two_apart(Queue& queue, std::string& other) {
  const MessageId first = push_one(queue, "a", "first");
  for (int i = 0;; ++i) {
    other = "b" + std::to_string(i);
    const MessageId id = push_one(queue, other, "other");
    if (shard_of(id) != shard_of(first)) return {first, id};
  }
}

inline NewMessage message_for(std::string_view tenant, std::string_view payload = "x") {
  NewMessage message;
  message.tenant = tenant;
  message.payload = as_bytes(payload);
  return message;
}

}  // namespace fq::test
