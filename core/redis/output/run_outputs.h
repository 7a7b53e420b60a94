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
#include "core/redis/shard/holdings.h"
#include "core/redis/shard/shard.h"
#include "core/api/queue.h"

namespace fq {

/// Of each channel of one message.
inline constexpr uint64_t kRedisKeptBytesMax = 8 * 1024 * 1024;

struct RedisRunShelf {
  RedisRunShelf(ServerAccess access, std::string tag, std::string nonce, std::shared_ptr<Holdings> has)
      : shard(std::move(access), std::move(tag), std::move(nonce)), holdings(std::move(has)) {}

  std::mutex mutex;
  Shard shard;  // under it
  const std::shared_ptr<Holdings> holdings;
};

class RedisRunOutputs {
 public:
  /// `holdings`: of the session with this nonce.
  RedisRunOutputs(ServerAccess access, std::string tag, std::string nonce, std::shared_ptr<Holdings> holdings)
      : access_(std::move(access)),
        tag_(std::move(tag)),
        nonce_(std::move(nonce)),
        holdings_(std::move(holdings)) {}

  std::shared_ptr<RunOutput> make(const Delivery& delivery, const RunTerms& terms);

 private:
  ServerAccess access_;
  std::string tag_, nonce_;
  std::shared_ptr<Holdings> holdings_;
  std::shared_ptr<RedisRunShelf> shelf_;
};

}  // namespace fq
