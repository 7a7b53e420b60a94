// sharded_leases - takes messages from many shards, and gives verdicts to those that they are of.
#pragma once

// System.
#include <set>
// fq, this room.
#include "core/redis/sharded/shard_bells.h"
#include "core/redis/sharded/visits.h"

namespace fq {

class ShardedLeases {
 public:
  ShardedLeases(Shards& shards, Purses& purses)
      : shards_(shards), purses_(purses), visits_(shards, purses), bells_(shards) {}

  Result<LeaseReply> lease(const LeaseRequest& request);
  Result<SettleReply> settle(std::span<const Settle> items, const LeaseRequest* next);
  Result<std::vector<ExtendResult>> extend(std::span<const Receipt> receipts, int64_t duration_ms);
  /// Nothing was ready or leased, or on its way back, anywhere at one moment. `busy`: a shard in which that
  /// is not so; none: others changed something meanwhile.
  Result<bool> is_idle(std::optional<size_t>& busy);
  /// So long who waits looks at nothing, as far as is known of who else waits.
  int64_t look_ms() const { return visits_.look_ms(); }

 private:
  /// How far a pass over the shards has come.
  struct Pass {
    std::optional<size_t> only;  // the shard of the tenant that is asked for
    size_t want = 0;
    uint64_t bytes_left = 0;
    bool servable = false;  // where nothing is taken
  };
  Result<void> do_what_is_due();
  Result<void> take_back_unheard(const LeaseRequest& request, LeaseReply& reply);
  Result<void> call(const std::vector<size_t>& shards, const LeaseRequest& request, LeaseReply& reply);
  Result<void> visit(const LeaseRequest& request, const Visits::Visit& visit, Pass& pass, LeaseReply& reply);
  Result<RedisLeases::Added> add(const LeaseRequest& request, size_t shard, size_t want, uint64_t& bytes_left,
                                 LeaseReply& reply, std::string_view loans);
  Result<bool> opens(const LeaseRequest& request, size_t shard, LeaseReply& reply);
  Result<void> take(const LeaseRequest& request, Pass& pass, LeaseReply& reply);
  Awaiting::State listen_for_idle();
  Result<LeaseReply> wait(const LeaseRequest& request);
  Result<LeaseReply> look_once(const LeaseRequest& request, bool fresh);
  Result<void> look(const LeaseRequest& request, bool fresh, LeaseReply& reply);

  Shards& shards_;
  Purses& purses_;
  Visits visits_;
  ShardBells bells_;
  Awaiting awaiting_;
  std::optional<size_t> busy_;  // that is not idle, by the last look
  std::set<size_t> unheard_;    // shards of which an answer was lost that may have given something
};

}  // namespace fq
