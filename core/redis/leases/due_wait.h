// due wait - how long who looks for work stays for what is due and not done yet: the rest of it may be there
// already for whoever comes now.
#pragma once

// System.
#include <cstdint>
// fq, below us.
#include "core/api/queue.h"
#include "core/base/clock.h"
// fq, this room.
#include "core/redis/shard/shard.h"
#include "core/redis/waits/waiting.h"

namespace fq {

class DueWait {
 public:
  /// A worker comes again by itself.
  explicit DueWait(const LeaseRequest& request)
      : is_long_(request.wait), until_ms_(request.watch ? 0 : system_clock().boot_ms() + kDueMsMax) {}

  bool goes_on(const LeaseReply& reply, const Waiting& waiting) const {
    const bool stays = is_long_ || system_clock().boot_ms() < until_ms_;
    return stays && reply.why_empty == WhyEmpty::nothing && !waiting.is_over();
  }

 private:
  bool is_long_;
  int64_t until_ms_;
};

}  // namespace fq
