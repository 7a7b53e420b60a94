#include "core/redis/shard/idle_link.h"

// System.
#include <unistd.h>

namespace fq {

std::shared_ptr<ServerLink> IdleLink::take(const std::string& spool, const RedisPlace& place,
                                           const std::string& password) {
  const std::lock_guard held(mutex_);
  const pid_t process = ::getpid();
  const bool leads_there = kept_.process == process && kept_.spool == spool && kept_.password == password &&
                           kept_.tls == place.tls;
  if (leads_there && kept_.link.use_count() == 1) return kept_.link;
  kept_ = {process, spool, password, place.tls, std::make_shared<ServerLink>(place, password)};
  return kept_.link;
}

}  // namespace fq
