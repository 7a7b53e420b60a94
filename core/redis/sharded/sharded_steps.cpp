#include "core/redis/sharded/sharded_steps.h"

// System.
#include <algorithm>

namespace fq {

Result<StepBegin> ShardedSteps::begin(const Receipt& receipt, std::string_view name, Interrupt* interrupt) {
  return of(receipt).begin(receipt, name, interrupt);
}

Result<SettleStatus> ShardedSteps::keep(const Receipt& receipt, std::string_view name, Bytes output) {
  return of(receipt).keep(receipt, name, output);
}

Result<StepPush> ShardedSteps::push(const Receipt& receipt, std::string_view name,
                                    const NewMessage& message) {
  if (shards_.of_tenant(message.tenant) != shards_.of_receipt(receipt)) {
    return Error{
        ErrorKind::usage,
        "step '" + std::string(name) +
            "': pushes for an account of another shard; in this queue it has to be that of its message",
        0};
  }
  return of(receipt).push(receipt, name, message);
}

Result<StepPause> ShardedSteps::sleep(const Receipt& receipt, std::string_view name,
                                      std::optional<int64_t> delay_ms, int64_t until_wall_ms) {
  return of(receipt).sleep(receipt, name, delay_ms, until_wall_ms);
}

Result<StepPause> ShardedSteps::wait(const Receipt& receipt, std::string_view name,
                                     std::optional<std::span<const MessageId>> ids) {
  for (const MessageId id : ids.value_or(std::span<const MessageId>())) {
    if (!shards_.lies_elsewhere(id, shards_.of_receipt(receipt))) continue;
    return Error{ErrorKind::usage,
                 "step '" + std::string(name) + "': message " + std::to_string(number(id)) +
                     " lies on another shard; in this queue a step waits for messages of its own account",
                 0};
  }
  return of(receipt).wait(receipt, name, ids);
}

Result<std::optional<std::vector<StepInfo>>> ShardedSteps::list(MessageId id) {
  return at(shards_.of_id(id)).list(id);
}

}  // namespace fq
