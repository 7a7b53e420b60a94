// redis_explain - why a message is served when it is, or why it waits.
//
// The program on the server, which walks the turns as a worker's call does, tells what blocks it. The place
// of one that is further than that looks ahead is bounded by counting the turns of those beside it, some at a
// time: in between everything may change.
#pragma once

// fq, this room.
#include "core/redis/shard/shard.h"
// fq, below us.
#include "core/api/queue.h"

namespace fq {

/// Of the tenants that may not start now, so many are told.
inline constexpr size_t kBlockedTold = 20;

class RedisExplain {
 public:
  explicit RedisExplain(Shard& shard) : shard_(shard) {}

  Result<ExplainReply> explain(const ExplainRequest& request);
  /// Takes in some of those that hold slots of this limit here, as long as few are told.
  Result<void> add_running(Reason& reason);

 private:
  /// What is served up to and including a message, at the most.
  struct Before {
    uint64_t turns;
    bool all_start = true;  // these use up no limit of its tenant, nor of an account
  };
  Result<std::optional<Explanation>> of_message(MessageId id);
  Result<std::optional<Explanation>> of_tenant(const std::string& path);
  Result<std::vector<Explanation>> next(const std::string& path, size_t n);
  Result<void> add_blocked(const std::string& path, ExplainReply& reply);
  Result<void> add_below(const std::string& path, Explanation& found);
  Result<Before> scan_rivals(Explanation& found, bool among_own);
  std::vector<Reason> reasons_of(const Reply& told) const;
  Result<void> find_running(std::vector<Reason>& reasons);
  Result<void> add_running(std::string_view list, Reason& reason);

  Shard& shard_;
};

}  // namespace fq
