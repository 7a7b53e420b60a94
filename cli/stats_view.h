// stats_view - the counts of queues and tenants as a table, as JSON lines and for Prometheus.
#pragma once

// System.
#include <string>
#include <vector>
// fq, below us.
#include "core/api/queue.h"

namespace fq::cli {

struct QueueStats {
  std::string queue;
  StatsReply stats;
};

/// `tenants`: the rows are of tenants.
std::string stats_table(const std::vector<QueueStats>& queues, bool tenants);
std::string stats_json(const std::vector<QueueStats>& queues, bool tenants);
std::string stats_prometheus(const std::vector<QueueStats>& queues, bool tenants);

}  // namespace fq::cli
