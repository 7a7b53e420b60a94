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
  std::string spool;  // as it was typed; "": the one that a command takes by itself
  Settings settings;
  int64_t now_wall_ms = 0;
  Measured measured = {};                  // the workers on the queue, and how long their jobs take
  std::optional<Elsewhere> moved_to = {};  // of a message that was moved: where it is
};

/// The reason, and the command that would change it ("": none).
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
