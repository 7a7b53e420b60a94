// stats_view - the counts of queues and tenants as a table, as JSON lines and for Prometheus.
#pragma once

// System.
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "cli/terminal/screen.h"

namespace fq::cli {

struct QueueStats {
  std::string queue;
  StatsReply stats;
  AwayList away = {};  // parts of it that did not answer
};

/// `tenants`: the rows are of tenants. Of a queue the first 20 are shown, those whose messages wait longest.
/// Where more than `lines` would be needed there are fewer rows, those with most to do, and what is not shown
/// is summed up.
std::string stats_table(const std::vector<QueueStats>& queues, bool tenants, const Screen& screen,
                        size_t lines = SIZE_MAX);

/// Takes a piece of the text, of which there may be hundreds of megabytes; an error ends the writing.
using WritePiece = std::function<Result<void>(std::string_view)>;
Result<void> write_stats_json(const std::vector<QueueStats>& queues, bool tenants, const WritePiece& write);
Result<void> write_stats_prometheus(const std::vector<QueueStats>& queues, bool tenants,
                                    const WritePiece& write);

/// A count of a row, by the name that it has everywhere.
struct StatsCount {
  std::string_view name;
  uint64_t StatsRow::*member;
  std::string_view help;
};
std::span<const StatsCount> stats_gauges();    // that go up and down
std::span<const StatsCount> stats_counters();  // since the queue was made

/// Tenants whose messages wait longest first, then those with the most of them.
bool waits_longer(const StatsRow& a, const StatsRow& b);

}  // namespace fq::cli
