// cluster - several real servers that are one cluster, for tests.
#pragma once

// System.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/redis/wire/reply.h"
// Tests.
#include "tests/servers/servers.h"

namespace fq::test {

/// Nor is that of its bus anybody's.
uint16_t free_port();

/// A command as an administrator types it. Throws where the server is not to be reached.
Reply command(const TestServer& server, const std::vector<std::string_view>& words);

class TestCluster {
 public:
  /// Masters first, each with as many replicas. Throws when it does not come up.
  explicit TestCluster(size_t masters, size_t replicas_each = 0);

  size_t size() const { return nodes_.size(); }
  TestServer& node(size_t i) { return *nodes_.at(i).server; }
  const TestServer& node(size_t i) const { return *nodes_.at(i).server; }
  std::string address(size_t i) const { return "127.0.0.1:" + std::to_string(nodes_.at(i).port); }
  /// The spool, by all of its servers.
  std::string spool(const std::string& options = {}) const;
  /// Which of them is the master that has this key, once all that live say the same.
  size_t owner_of(std::string_view key) const;
  /// When it has another one than `before`, that.
  size_t wait_for_another_owner(std::string_view key, size_t before) const;
  std::string name_of(size_t i) const;
  /// Steps of a move of the slot that has this key.
  void begin_move(std::string_view key, size_t from, size_t to);
  /// Of the keys that are there, all or the first of those in `keys`.
  void move_keys(const std::vector<std::string>& keys, size_t from, size_t to);
  void end_move(std::string_view key, size_t to);
  std::vector<std::string> keys_of(std::string_view key, size_t at) const;
  /// All slots are served, as all that live say.
  void wait_until_whole() const;
  /// Until a server has so many that it counts on.
  void wait_for_replicas(size_t master, size_t count) const;

 private:
  struct Node {
    std::unique_ptr<TestServer> server;
    uint16_t port = 0;
  };
  void start(size_t count);
  void join(size_t masters);
  std::optional<size_t> owner_by(const Node& asked, int64_t slot) const;
  std::vector<Node> nodes_;
};

}  // namespace fq::test
