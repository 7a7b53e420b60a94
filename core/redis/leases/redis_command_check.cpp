#include "core/redis/leases/redis_command_check.h"

// fq, below us.
#include "core/base/clock.h"

namespace fq {

namespace {

constexpr int64_t kAskedAgainMs = 5'000;  // as often as workers look at the policy

}  // namespace

Result<void> RedisCommandCheck::may_lease(const LeaseRequest& request) const {
  const bool needs_key = request.runs_commands && (request.want > 0 || request.look || request.until_idle);
  return needs_key && !signer_.has_key() ? lacks_command_key("worker") : Result<void>();
}

/// Real time, whatever time the queue is told: it only spares calls.
Result<int64_t> RedisCommandCheck::age_ms() {
  const int64_t now_ms = system_clock().boot_ms();
  if (!age_ms_ || now_ms - asked_ms_ >= kAskedAgainMs) {
    FQ_TRY_SET(const Settings settings, policy_.settings());
    age_ms_ = settings.command_age_ms;
    asked_ms_ = now_ms;
  }
  return *age_ms_;
}

Result<std::string> RedisCommandCheck::fault(const MessageRecord& record) {
  if (!record.command || !signer_.has_key()) return std::string();
  FQ_TRY_SET(const int64_t age, age_ms());
  return signer_.fault(message_of(record), record.signature, age);
}

}  // namespace fq
