#include "core/redis/shard/session.h"

// System.
#include <pthread.h>

#include <csignal>
// fq, this room.
#include "core/redis/records/base32.h"
#include "core/redis/shard/living_sessions.h"
#include "core/redis/records/records.h"

namespace fq {

namespace {

constexpr auto kRenewAfter = std::chrono::seconds(5);  // of the 15 s after which the server gives up

}  // namespace

RedisSession::RedisSession(const ServerAccess& access, const std::string& tag)
    : nonce_(draw_base32(kNonceBytes)), shard_(access, tag, nonce_) {
  living_sessions().add(shard_.place(), nonce_);
}

RedisSession::~RedisSession() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    over_.notify_all();
    thread_.join();
    static_cast<void>(
        shard_.change("change", {"leave"}));  // a server that does not hear it finds out in time
  }
  living_sessions().remove(shard_.place(), nonce_);
}

void RedisSession::keep_alive() {
  if (thread_.joinable()) return;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for those who expect them
  thread_ = std::thread([this] { renew(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void RedisSession::renew() {
  std::unique_lock lock(mutex_);
  while (!over_.wait_for(lock, kRenewAfter, [this] { return is_over_; })) {
    lock.unlock();
    static_cast<void>(shard_.tick());
    lock.lock();
  }
}

}  // namespace fq
