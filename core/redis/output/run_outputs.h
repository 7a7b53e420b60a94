// redis run outputs - what the jobs of this process write, on the server while others may follow it.
//
// The shelf, a connection of their own, belongs to all of them together: they are written by another thread
// than the queue's, and may end after the queue's object does. The output that is kept after a message's end
// lies in memory here: the server has what followers need, and that is less.
#pragma once

// System.
#include <memory>
#include <mutex>
#include <string>
// fq, this room.
#include "core/redis/shard/shard.h"
#include "core/api/queue.h"

namespace fq {

/// Of each channel of one message.
inline constexpr uint64_t kRedisKeptBytesMax = 8 * 1024 * 1024;

struct RedisRunShelf {
  RedisRunShelf(ServerAccess access, std::string tag, std::string nonce)
      : shard(std::move(access), std::move(tag), std::move(nonce)) {}

  std::mutex mutex;
  Shard shard;  // under it
};

class RedisRunOutputs {
 public:
  RedisRunOutputs(ServerAccess access, std::string tag, std::string nonce)
      : access_(std::move(access)), tag_(std::move(tag)), nonce_(std::move(nonce)) {}

  std::shared_ptr<RunOutput> make(const Delivery& delivery, const RunTerms& terms);

 private:
  ServerAccess access_;
  std::string tag_, nonce_;
  std::shared_ptr<RedisRunShelf> shelf_;
};

}  // namespace fq
