// session - the marks by which a server tells this client from others, and that it lives.
//
// Messages that a client holds by living stay its own for as long as the server hears of it: each call says
// so for all sessions of this process, and a thread does so when there is no call for a while.
#pragma once

// System.
#include <memory>
#include <string>
// fq, this room.
#include "core/redis/shard/life_sign.h"
#include "core/redis/shard/renewer.h"

namespace fq {

class RedisSession {
 public:
  RedisSession(const ServerAccess& access, const std::string& tag, std::string nonce);
  ~RedisSession();
  RedisSession(const RedisSession&) = delete;
  RedisSession& operator=(const RedisSession&) = delete;

  const std::string& nonce() const { return nonce_; }
  Holdings& holdings() { return *sign_.holdings(); }
  /// For those of its parts that may outlive it.
  std::shared_ptr<Holdings> shared_holdings() const { return sign_.holdings(); }
  /// From now on it is a worker's.
  Result<void> attend(Shard& shard, const Attendance& attendance);
  /// From now on the server may hold something for it.
  void keep_alive();

 private:
  std::string nonce_;
  LifeSign sign_;  // of the thread, and of the end
  std::shared_ptr<Renewer> renewer_;
  bool is_kept_ = false;
};

}  // namespace fq
