// renewer - a thread that says now and then that sessions live, when nobody else does: of one shard or of
// many.
#pragma once

// System.
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>
// fq, this room.
#include "core/redis/shard/shard.h"

namespace fq {

class Renewer {
 public:
  Renewer() = default;
  ~Renewer();
  Renewer(const Renewer&) = delete;
  Renewer& operator=(const Renewer&) = delete;

  /// From now on: the thread begins with the first one.
  void add(Shard& shard);
  /// When it returns, nobody uses that shard any more.
  void remove(Shard& shard);

 private:
  void renew();
  void renew_all(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::vector<Shard*> shards_;
  Shard* current_ = nullptr;  // is being called
  std::thread thread_;
};

}  // namespace fq
