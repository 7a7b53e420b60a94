// redis_exchange - messages go out of a queue on a server, and come into it, with all that is known of them.
#pragma once

// fq, this room.
#include "core/redis/views/redis_look.h"
#include "core/redis/policy/redis_policy.h"
#include "core/redis/signing/command_signer.h"

namespace fq {

class RedisExchange {
 public:
  /// `mark`: of the queue.
  RedisExchange(Shard& shard, RedisLook& look, RedisPolicy& policy, const CommandSigner& signer,
                std::string mark)
      : shard_(shard), look_(look), policy_(policy), signer_(signer), mark_(std::move(mark)) {}

  /// As of Queue.
  Result<std::string> origin();
  Result<std::optional<ExportedMessage>> exported(MessageId id);
  Result<ImportReply> import_messages(std::span<const ExportedMessage> messages, std::string_view origin);

 private:
  Result<void> add_steps(const Reply& shown, ExportedMessage& message);
  static size_t count_of_call(std::span<const ExportedMessage> messages);
  Result<void> import_some(std::span<const ExportedMessage> messages, std::string_view origin,
                           const Settings& settings, ImportReply& reply);
  Result<std::vector<ImportResult>> import_all(std::span<const ExportedMessage> messages,
                                               std::string_view origin, const Settings& settings);
  Result<void> add_words(const ExportedMessage& message, std::string_view origin, ArgumentList& arguments);

  Shard& shard_;
  RedisLook& look_;
  RedisPolicy& policy_;
  const CommandSigner& signer_;
  const std::string mark_;
};

}  // namespace fq
