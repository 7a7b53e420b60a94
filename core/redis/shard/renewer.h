// renewer - a thread that says now and then that sessions live, when nobody else does: of one shard or of
// many, which have their connections together.
#pragma once

// System.
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>
// fq, this room.
#include "core/redis/shard/life_sign.h"

namespace fq {

class Renewer {
 public:
  Renewer() = default;
  ~Renewer();
  Renewer(const Renewer&) = delete;
  Renewer& operator=(const Renewer&) = delete;

  /// From now on: the thread begins with the first one.
  void add(LifeSign& sign);
  /// When it returns, nobody uses that one any more.
  void remove(LifeSign& sign);

 private:
  void renew();
  void tell_all(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::vector<LifeSign*> signs_;
  bool is_telling_ = false;  // all of them
  uint64_t rounds_ = 0;      // begun
  std::thread thread_;
};

}  // namespace fq
