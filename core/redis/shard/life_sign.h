// life sign - what a session says to a shard now and then: that it lives, of a worker also as what, and to a
// server that does not know it yet what it has.
#pragma once

// System.
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>
// fq, below us.
#include "core/api/attendance.h"
// fq, this room.
#include "core/redis/shard/holdings.h"
#include "core/redis/shard/round.h"
#include "core/redis/shard/shard.h"

namespace fq {

class LifeSign {
 public:
  LifeSign(const ServerAccess& access, const std::string& tag, const std::string& nonce)
      : shard_(access.for_signs(), tag, nonce) {}

  const std::shared_ptr<Holdings>& holdings() const { return holdings_; }
  /// From now on it is a worker's, and `shard` has heard so.
  Result<void> attend(Shard& shard, const Attendance& attendance);
  /// With those of the other shards of its queue. One that fails is made up for: three fit into the server's
  /// patience.
  void add_to(Round& round);
  /// Behind the sign. Which server it is that hears us is known when it has answered.
  void begin_telling();
  /// A part of what it has, where that is being told. False: nothing is left to tell.
  bool add_holdings_to(Round& round);
  ServerLink& link() const { return shard_.link(); }
  /// The last: the session has nothing any more. Not beside the others.
  void leave();
  std::string place() const { return shard_.place(); }

 private:
  std::vector<std::string> words();
  void end_telling(const std::string& server);

  Shard shard_;
  bool is_heard_ = true;
  std::optional<Holdings::Words> telling_;
  std::mutex mutex_;
  std::vector<std::string> attendance_;  // as the server's program reads it; empty: it is none
  const std::shared_ptr<Holdings> holdings_ = std::make_shared<Holdings>();
};

}  // namespace fq
