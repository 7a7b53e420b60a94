// life sign - what a session says to a shard now and then: that it lives, of a worker also as what, and to a
// server that does not know it yet what it has.
#pragma once

// System.
#include <memory>
#include <mutex>
#include <string>
#include <vector>
// fq, below us.
#include "core/api/attendance.h"
// fq, this room.
#include "core/redis/shard/holdings.h"
#include "core/redis/shard/shard.h"

namespace fq {

class LifeSign {
 public:
  LifeSign(const ServerAccess& access, const std::string& tag, const std::string& nonce)
      : shard_(access.beside(), tag, nonce) {}

  const std::shared_ptr<Holdings>& holdings() const { return holdings_; }
  /// From now on it is a worker's, and `shard` has heard so.
  Result<void> attend(Shard& shard, const Attendance& attendance);
  /// One that fails is made up for: three fit into the server's patience.
  void give();
  /// The last: the session has nothing any more. Not beside the others.
  void leave();
  std::string place() const { return shard_.place(); }

 private:
  Result<void> say_that_it_lives();
  Result<void> tell(const Holdings::Words& words);

  Shard shard_;
  std::mutex mutex_;
  std::vector<std::string> attendance_;  // as the server's program reads it; empty: it is none
  const std::shared_ptr<Holdings> holdings_ = std::make_shared<Holdings>();
};

}  // namespace fq
