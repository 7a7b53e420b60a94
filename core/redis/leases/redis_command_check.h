// redis_command_check - whether a message's command may be run: asked of each that is delivered.
#pragma once

// System.
#include <string>
// fq, this room.
#include "core/redis/policy/redis_policy.h"
#include "core/redis/records/records.h"
#include "core/redis/signing/command_signer.h"

namespace fq {

class RedisCommandCheck {
 public:
  RedisCommandCheck(const CommandSigner& signer, RedisPolicy& policy) : signer_(signer), policy_(policy) {}

  /// What a lease that is to give such messages needs.
  Result<void> may_lease(const LeaseRequest& request) const;
  /// Why it may not, as a reason is told; "": it may, or there is no key to tell it by, or no command.
  Result<std::string> fault(const MessageRecord& record);

 private:
  Result<int64_t> age_ms();

  const CommandSigner& signer_;
  RedisPolicy& policy_;
  std::optional<int64_t> age_ms_;  // as the queue's policy said then
  int64_t asked_ms_ = 0;
};

}  // namespace fq
