// redis_steps - the steps of jobs, each done once, on a server.
//
// A process at a step has that written down there, for as long as its session lives: when the one that runs a
// command dies, another may run it once the server has not heard of that session for its time, although the
// command that was begun may still run.
#pragma once

// System.
#include <map>
#include <string>
// fq, this room.
#include "core/redis/leases/redis_leases.h"
#include "core/redis/policy/redis_policy.h"
#include "core/redis/signing/command_signer.h"

namespace fq {

class RedisSteps final : public Steps {
 public:
  RedisSteps(Shard& shard, RedisSession& session, RedisLeases& leases, RedisPolicy& policy,
             const CommandSigner& signer)
      : shard_(shard), session_(session), leases_(leases), policy_(policy), signer_(signer) {}

  Result<StepBegin> begin(const Receipt& receipt, std::string_view name, Interrupt* interrupt) override;
  Result<SettleStatus> keep(const Receipt& receipt, std::string_view name, Bytes output) override;
  Result<StepPush> push(const Receipt& receipt, std::string_view name, const NewMessage& message) override;
  Result<StepPause> sleep(const Receipt& receipt, std::string_view name, std::optional<int64_t> delay_ms,
                          int64_t until_wall_ms) override;
  Result<StepPause> wait(const Receipt& receipt, std::string_view name,
                         std::optional<std::span<const MessageId>> ids) override;
  Result<std::optional<std::vector<StepInfo>>> list(MessageId id) override;

 private:
  struct Said {
    SettleStatus receipt = SettleStatus::ok;
    std::string what, text;  // as the server's program says it
    bool is_yes = false;
  };
  /// Asks for a step of this kind. An Error says what of it cannot be.
  Result<Said> ask(const Receipt& receipt, std::string_view name, StepKind kind, std::string_view what,
                   std::span<const std::string_view> more);
  Result<StepPause> pause(const Receipt& receipt, std::string_view name, StepKind kind,
                          std::span<const std::string_view> more);

  Shard& shard_;
  RedisSession& session_;
  RedisLeases& leases_;
  RedisPolicy& policy_;
  const CommandSigner& signer_;
  std::map<std::string, std::string> asked_;  // for turns of which it is not known whether they are ours
};

}  // namespace fq
