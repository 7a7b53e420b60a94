// kept_policy - fq.toml of all queues below a prefix: a text on the server, its version, and a seal of
// whoever has the key of commands. One without it, or another's, is as good for all but commands.
#pragma once

// System.
#include <optional>
#include <string>
// fq, below us.
#include "core/api/policy_text.h"
// fq, this room.
#include "core/redis/shard/shard.h"

namespace fq {

class KeptPolicy {
 public:
  explicit KeptPolicy(ServerAccess access) : access_(std::move(access)) {}
  Result<PolicyText> read();
  Result<std::string> replace(const std::string& text, const std::optional<std::string>& if_version);

 private:
  /// "": there is no key.
  std::string seal_of(const std::string& text) const;

  ServerAccess access_;
};

}  // namespace fq
