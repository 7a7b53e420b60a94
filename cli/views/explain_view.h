// explain_view - an explanation in a person's words, or as JSON.
#pragma once

// System.
#include <span>
#include <string>
// fq, below us.
#include "core/api/queue.h"
#include "core/api/schedules.h"
// fq, this room.
#include "cli/terminal/screen.h"
#include "cli/views/start_estimate.h"

namespace fq::cli {

struct ExplainContext {
  std::string queue;
  std::string spool;  // as it was typed; "": what a command takes by itself
  Settings settings;
  int64_t now_wall_ms = 0;
  Measured measured = {};                  // who works on the queue, and how long that takes
  std::optional<Elsewhere> moved_to = {};  // of a message that was moved: where it is
};

/// What it says, and what would change it ("": nothing that one could type).
struct ReasonText {
  std::string what;
  std::string change;
};
ReasonText reason_text(const Explanation& of, const Reason& reason, const ExplainContext& context);

std::string explanation_text(const ExplainReply& reply, const ExplainContext& context, const Screen& screen);
/// An object a line: the subject, what comes next, who is blocked, the schedules; `about` tells which.
std::string explanation_json(const ExplainReply& reply, std::span<const ScheduleInfo> schedules,
                             const ExplainContext& context);

}  // namespace fq::cli
