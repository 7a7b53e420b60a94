#include "core/redis/shard/session.h"

// System.
#include <utility>
// fq, this room.
#include "core/redis/shard/living_sessions.h"

namespace fq {

RedisSession::RedisSession(const ServerAccess& access, const std::string& tag, std::string nonce)
    : nonce_(std::move(nonce)),
      sign_(access, tag, nonce_),
      renewer_(access.shared ? access.shared->renewer : std::make_shared<Renewer>()) {}

RedisSession::~RedisSession() {
  if (!is_kept_) return;
  renewer_->remove(sign_);
  sign_.leave();
  living_sessions().remove(sign_.place(), nonce_);
}

Result<void> RedisSession::attend(Shard& shard, const Attendance& attendance) {
  FQ_TRY(sign_.attend(shard, attendance));
  keep_alive();
  return {};
}

void RedisSession::keep_alive() {
  if (is_kept_) return;
  is_kept_ = true;
  living_sessions().add(sign_.place(), nonce_);
  renewer_->add(sign_);
}

}  // namespace fq
