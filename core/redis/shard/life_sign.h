// life sign - what a session says to a shard now and then: that it lives, and to a server that does not know
// it yet what it has.
#pragma once

// System.
#include <memory>
#include <string>
// fq, this room.
#include "core/redis/shard/holdings.h"
#include "core/redis/shard/shard.h"

namespace fq {

class LifeSign {
 public:
  LifeSign(const ServerAccess& access, const std::string& tag, const std::string& nonce)
      : shard_(access.beside(), tag, nonce) {}

  const std::shared_ptr<Holdings>& holdings() const { return holdings_; }
  /// One that fails is made up for: three fit into the server's patience.
  void give();
  /// The last: the session has nothing any more. Not beside the others.
  void leave();
  std::string place() const { return shard_.place(); }

 private:
  Result<void> tell(const Holdings::Words& words);

  Shard shard_;
  const std::shared_ptr<Holdings> holdings_ = std::make_shared<Holdings>();
};

}  // namespace fq
