// sharded_sums - what is told of many shards together: numbers, workers, reasons, and what does not agree.
#pragma once

// fq, this room.
#include "core/redis/sharded/purses.h"

namespace fq {

class ShardedSums {
 public:
  ShardedSums(Shards& shards, Purses& purses) : shards_(shards), purses_(purses) {}

  Result<StatsReply> stats(const StatsRequest& request);
  Result<std::vector<Attendee>> attendees();
  Result<ExplainReply> explain(const ExplainRequest& request);
  Result<CheckReport> check(const CheckRequest& request);

 private:
  Result<StatsRow> of_queue();
  Result<ExplainReply> explain_all(const ExplainRequest& request);
  Result<void> forget_places(size_t shard, ExplainReply& reply);
  using Totals = std::map<std::string, Purses::Total>;
  Result<void> tell_totals(const Totals& totals, ExplainReply& reply);
  Result<std::vector<MessageId>> running_of(Reason reason);
  Result<void> check_shards(const CheckRequest& request, CheckReport& report);
  Result<void> check_purses(const CheckRequest& request, CheckReport& report);

  Shards& shards_;
  Purses& purses_;
};

}  // namespace fq
