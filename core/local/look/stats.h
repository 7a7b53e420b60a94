// stats - counts of the queue and of its tenants.
#pragma once

// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "core/local/write/link.h"

namespace fq {

class TenantSurvey;

class Stats : private Linked {
 public:
  explicit Stats(Link& link) : Linked(link) {}

  Result<StatsReply> rows(const StatsRequest& request);

 private:
  Result<void> find_next_schedule(StatsRow& row);
  Result<void> survey(TenantSurvey& survey, int64_t& as_of_wall_ms);
};

}  // namespace fq
