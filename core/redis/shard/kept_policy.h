// kept_policy - fq.toml of all queues below a prefix: a text on the server, and its version.
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
  ServerAccess access_;
};

}  // namespace fq
