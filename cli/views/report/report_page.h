// report_page - the report of queues, on their past and on their stuck messages, as one page that needs
// nothing else.
//
// No script, no font, no picture from elsewhere, and none is let in: the page forbids it itself. Readable on
// a phone, in print and without colours.
#pragma once

// System.
#include <string>
#include <vector>
// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "cli/views/report/activity.h"
#include "cli/views/explain_view.h"

namespace fq::cli {

/// All that is told of one queue.
struct QueueReport {
  std::string queue;
  StatsRow sums;
  Activity activity;
  ExplainReply blocked;
  ExplainContext context;
  std::vector<MessageInfo> running;  // the longest first
  uint64_t more_running = 0;
  AwayList away = {};  // parts of it that did not answer
};

struct ReportRequest {
  std::optional<int64_t> since_wall_ms;
  int64_t now_wall_ms = 0;
};

std::string report_page(const std::vector<QueueReport>& queues, const ReportRequest& request);

}  // namespace fq::cli
