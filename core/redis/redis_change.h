// redis_change - changes messages of a shard: cancels, kicks, other values.
#pragma once

// System.
#include <span>
// fq, this room.
#include "core/redis/records/records.h"
#include "core/redis/policy/redis_policy.h"
#include "core/redis/shard/shard.h"
#include "core/redis/signing/command_signer.h"

namespace fq {

/// A change by a filter: of the ids in a page of what it selects. `lists` are those of a shard or of many.
template <class Lists>
Result<MutateReply> mutate_page(Lists& lists, const Filter& filter, Action action, const Cursor& from,
                                size_t n) {
  Filter exact = filter;
  if (action != Action::cancel && !filter.state) exact.state = State::dead;
  FQ_TRY_SET(const IdPage page, lists.select(exact, from, n));
  FQ_TRY_SET(MutateReply reply, lists.mutate(page.ids, action, exact.state));
  reply.items.clear();
  reply.next = page.next;
  return reply;
}

class RedisChange {
 public:
  RedisChange(Shard& shard, RedisPolicy& policy, const CommandSigner& signer)
      : shard_(shard), policy_(policy), signer_(signer) {}

  Result<MutateReply> mutate(std::span<const MessageId> ids, Action action, std::optional<State> state = {});
  Result<MutateReply> mutate(const Filter& filter, Action action, const Cursor& from, size_t n) {
    return mutate_page(*this, filter, action, from, n);
  }
  Result<IdPage> select(const Filter& filter, const Cursor& from, size_t n);
  Result<SettleStatus> edit(MessageId id, const MessagePatch& patch);

 private:
  /// None: another process changed it meanwhile.
  Result<std::optional<SettleStatus>> try_edit(MessageId id, const MessagePatch& patch,
                                               uint64_t payload_bytes_max);
  /// Of the command that it has then.
  Result<std::string> signature_for(const MessageRecord& record, const MessagePatch& patch,
                                    const NewMessage& before, const NewMessage& message) const;

  Shard& shard_;
  RedisPolicy& policy_;
  const CommandSigner& signer_;
};

}  // namespace fq
