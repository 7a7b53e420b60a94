// server_link - a connection that the shards of a queue share, one call at a time, so that a queue of many
// shards needs no more connections than one of a single shard.
#pragma once

// System.
#include <memory>
#include <mutex>
#include <string>
#include <vector>
// fq, this room.
#include "core/redis/wire/server.h"

namespace fq {

class ServerLink {
 public:
  ServerLink(RedisPlace place, std::string password)
      : place_(std::move(place)), password_(std::move(password)) {}

  /// For as long as it is held nobody else calls.
  using Turn = std::unique_lock<std::mutex>;
  Turn turn() { return Turn(mutex_); }

  /// Needs: a turn.
  Result<Server*> server();
  /// Needs: a turn. Whatever comes on it now may be the answer to what was asked before.
  void drop() { server_.reset(); }

  /// Commands in one go, and their replies in order; a refusal of any is an Error.
  Result<std::vector<Reply>> ask(const std::vector<std::vector<std::string>>& commands);

 private:
  const RedisPlace place_;
  const std::string password_;
  std::mutex mutex_;
  std::unique_ptr<Server> server_;
};

}  // namespace fq
