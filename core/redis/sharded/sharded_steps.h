// sharded_steps - steps of a message in the shard that has it: what they push and wait for lies there, too.
#pragma once

// fq, this room.
#include "core/redis/sharded/shards.h"

namespace fq {

class ShardedSteps final : public Steps {
 public:
  explicit ShardedSteps(Shards& shards) : shards_(shards) {}

  Result<StepBegin> begin(const Receipt& receipt, std::string_view name, Interrupt* interrupt) override;
  Result<SettleStatus> keep(const Receipt& receipt, std::string_view name, Bytes output) override;
  /// ErrorKind::usage also: for an account of another shard.
  Result<StepPush> push(const Receipt& receipt, std::string_view name, const NewMessage& message) override;
  Result<StepPause> sleep(const Receipt& receipt, std::string_view name, std::optional<int64_t> delay_ms,
                          int64_t until_wall_ms) override;
  /// ErrorKind::usage also: one lies on another shard.
  Result<StepPause> wait(const Receipt& receipt, std::string_view name,
                         std::optional<std::span<const MessageId>> ids) override;
  Result<std::optional<std::vector<StepInfo>>> list(MessageId id) override;

 private:
  Steps& at(size_t shard) { return *shards_.at(shard).steps(); }
  Steps& of(const Receipt& receipt) { return at(shards_.of_receipt(receipt)); }

  Shards& shards_;
};

}  // namespace fq
