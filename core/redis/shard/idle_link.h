// idle_link - a link that nobody uses any more, for who goes to the same place next.
//
// So a command that looks at queue after queue connects once, and what it has waited for in vain at one of
// them it does not wait for again at the next. Two who are at work at a time have a link each: one would wait
// for the other's calls.
#pragma once

// System.
#include <sys/types.h>

#include <memory>
#include <mutex>
#include <string>
// fq, this room.
#include "core/redis/shard/server_link.h"

namespace fq {

class IdleLink {
 public:
  /// The one that was had last, where it is idle and leads there; else a new one.
  std::shared_ptr<ServerLink> take(const std::string& spool, const RedisPlace& place,
                                   const std::string& password);

 private:
  /// By whom it was made, and where it leads: one that is forked has to have its own.
  struct Kept {
    pid_t process = 0;
    std::string spool, password;
    TlsFiles tls;
    std::shared_ptr<ServerLink> link = nullptr;
  };

  std::mutex mutex_;
  Kept kept_;
};

}  // namespace fq
