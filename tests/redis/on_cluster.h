// on cluster - a queue on a cluster of real servers.
#pragma once

// System.
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>
// Tests.
#include "tests/redis/sharded_fixture.h"
#include "tests/redis/waiter.h"

namespace fq::test {

/// Started once: each test has a prefix of its own.
inline TestCluster& three() {
  static TestCluster cluster(3);
  return cluster;
}

inline std::string new_prefix() {
  static int count = 0;
  return "p" + std::to_string(++count);
}

inline SettleStatus ack(Queue& queue, const Delivery& delivery) {
  Settle settle;
  settle.receipt = delivery.receipt;
  return answered(queue.settle({&settle, 1}, nullptr)).items.at(0);
}

inline constexpr int64_t kTakenOverMs = 60'000;  // on a machine that is busy with other tests
/// Pushed until it is there: a server that takes over needs its time.
inline MessageId push_at_last(Queue& queue, std::string_view tenant) {
  const int64_t end_ms = system_clock().boot_ms() + kTakenOverMs;
  while (system_clock().boot_ms() < end_ms) {
    const NewMessage message = message_for(tenant);
    const Result<PushReply> pushed = queue.push({&message, 1});
    if (pushed && !pushed->error) return pushed->items.at(0).id;
    const Error& error = pushed ? *pushed->error : pushed.error();
    INFO(error.text);
    REQUIRE((error.kind == ErrorKind::later || error.kind == ErrorKind::io));
  }
  FAIL("no push came through");
  return {};
}

inline std::set<std::string> all_keys(const TestServer& server, const std::string& prefix) {
  const std::vector<std::string> found = keys_of(server, "fq1:" + prefix + ":*");
  return {found.begin(), found.end()};
}
inline std::set<std::string> all_keys(TestCluster& cluster, const std::string& prefix) {
  std::set<std::string> keys;
  for (size_t i = 0; i < cluster.size(); ++i) keys.merge(all_keys(cluster.node(i), prefix));
  return keys;
}

/// What the keys of each shard of a queue begin with.
inline std::vector<std::string> tags_on(const TestCluster& cluster, const std::string& prefix) {
  const std::string front = "fq1:" + prefix + ":{", meta = front + "default}:meta";
  const Reply places = command(cluster.node(cluster.owner_of(meta)), {"HGET", meta, "places"});
  std::vector<std::string> all;
  for (const std::string& place : places_in(places.text)) all.push_back(front + place + "}:");
  return all;
}

struct OnCluster {
  explicit OnCluster(std::optional<uint32_t> shards = {}, TestCluster& on = three(),
                     const std::string& options = {})
      : cluster(on), location{on.spool("?prefix=" + prefix + options), "default"} {
    // With the usual patience: what is made a replica is to have, and that may need its time.
    answered(real_time_engine().create({on.spool("?prefix=" + prefix), location.queue}, {.shards = shards}));
    queue = another();
  }
  ~OnCluster() {
    queue.reset();
    static_cast<void>(real_time_engine().remove(location));
  }
  OnCluster(const OnCluster&) = delete;
  OnCluster& operator=(const OnCluster&) = delete;
  std::unique_ptr<Queue> another() const { return answered(real_time_engine().open(location, {})); }
  /// Opened once a replica has taken over: what is fixed of a queue of one shard may have been on a dead
  /// server.
  std::unique_ptr<Queue> another_at_last() const {
    std::unique_ptr<Queue> opened;
    wait_until([&] {
      Result<std::unique_ptr<Queue>> found = real_time_engine().open(location, {});
      if (found) opened = std::move(found).value();
      return opened != nullptr;
    });
    return opened;
  }
  std::string meta_key() const { return "fq1:" + prefix + ":{default}:meta"; }
  std::vector<std::string> tags() const { return tags_on(cluster, prefix); }
  /// Of the shard that an account has.
  std::string tag_of_id(MessageId id) const { return tags().at(shard_of(id)); }

  const std::string prefix = new_prefix();
  TestCluster& cluster;
  Location location;
  std::unique_ptr<Queue> queue;
};

}  // namespace fq::test
