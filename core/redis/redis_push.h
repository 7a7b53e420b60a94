// redis_push - puts batches of messages into a shard.
#pragma once

// System.
#include <optional>
#include <span>
// fq, this room.
#include "core/redis/shard/calls_at_once.h"
#include "core/redis/policy/redis_policy.h"
#include "core/redis/signing/command_signer.h"

namespace fq {

/// Of one message, and of a batch together: a whole one is one call of the server's program.
inline constexpr uint64_t kRedisPayloadBytesMax = 512 * 1024;
inline constexpr uint64_t kRedisBatchBytesMax = 16 * 1024 * 1024;

/// Refuses a message that is more than a server takes.
Result<void> check_on_server(const NewMessage& message);

/// What one shard gets of a batch.
struct BatchPart {
  std::span<const NewMessage> messages;
  uint64_t longest = 0;    // payload of the whole batch: all shards refuse it, or none
  std::string token = {};  // by which its shard knows it again; "": one is drawn
};
uint64_t longest_payload(std::span<const NewMessage> messages);

class RedisPush {
 public:
  RedisPush(Shard& shard, const CommandSigner& signer) : shard_(shard), signer_(signer) {}

  Result<PushReply> push(std::span<const NewMessage> messages, const PushOptions& options);
  /// What is wrong with them whatever the server knows.
  Result<void> check(std::span<const NewMessage> messages) const;
  /// A batch that was sent, with those of other shards: which of the calls it is.
  struct Sent {
    CallsAtOnce& calls;
    size_t call;
  };
  /// Adds it to what is to be sent; needs: it was checked.
  Result<Sent> add_to(CallsAtOnce& calls, const BatchPart& part, const PushOptions& options);
  /// Once for each, when the calls were sent. `count`: of its messages.
  static Result<PushReply> answer(const Sent& sent, size_t count);
  /// Needs: likewise. `heard`: the answer, where this was asked already.
  Result<PushReply> push_checked(const BatchPart& part, const PushOptions& options,
                                 std::optional<Result<PushReply>> heard = {});

 private:
  bool is_told_of_room(std::span<const NewMessage> messages) const;
  Result<ArgumentList> arguments_of(const BatchPart& part);
  Result<PushReply> push_once(const BatchPart& part, const PushOptions& options);
  static Result<PushReply> reply_of(Result<Reply> pushed, size_t count);

  Shard& shard_;
  const CommandSigner& signer_;
};

}  // namespace fq
