#include "core/redis/shard/session.h"

// fq, this room.
#include "core/redis/records/base32.h"
#include "core/redis/shard/living_sessions.h"
#include "core/redis/records/records.h"

namespace fq {

RedisSession::RedisSession(const ServerAccess& access, const std::string& tag)
    : nonce_(access.shared ? access.shared->nonce : draw_base32(kNonceBytes)),
      shard_(access.beside(), tag, nonce_),
      renewer_(access.shared ? access.shared->renewer : std::make_shared<Renewer>()) {}

RedisSession::~RedisSession() {
  if (!is_kept_) return;
  renewer_->remove(shard_);
  static_cast<void>(shard_.change("change", {"leave"}));  // a server that does not hear it finds out in time
  living_sessions().remove(shard_.place(), nonce_);
}

void RedisSession::keep_alive() {
  if (is_kept_) return;
  is_kept_ = true;
  living_sessions().add(shard_.place(), nonce_);
  renewer_->add(shard_);
}

}  // namespace fq
