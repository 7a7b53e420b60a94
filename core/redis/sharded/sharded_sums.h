// sharded_sums - what is told of many shards together: numbers, workers, reasons, and what does not agree.
#pragma once

// fq, this room.
#include "core/redis/sharded/shards.h"

namespace fq {

class ShardedSums {
 public:
  explicit ShardedSums(Shards& shards) : shards_(shards) {}

  Result<StatsReply> stats(const StatsRequest& request);
  Result<std::vector<Attendee>> attendees();
  Result<ExplainReply> explain(const ExplainRequest& request);
  Result<CheckReport> check(const CheckRequest& request);

 private:
  Result<StatsRow> of_queue();
  Result<ExplainReply> explain_all(const ExplainRequest& request);
  void forget_places(ExplainReply& reply) const;

  Shards& shards_;
};

}  // namespace fq
