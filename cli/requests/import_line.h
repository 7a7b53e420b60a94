// import_line - one line of an export by fq export: see cli/views/export_view.h.
#pragma once

// System.
#include <string>
#include <string_view>
// fq, below us.
#include "core/api/exported.h"
#include "core/api/schedules.h"
#include "core/base/policy.h"
#include "core/base/result.h"

namespace fq::cli {

struct ImportLine {
  enum class Kind { begin, setting, step, message, schedule, end };
  Kind kind = Kind::begin;
  std::string origin;                // begin
  std::string tenant;                // setting
  std::optional<PolicyValue> value;  // setting; none: its time is over
  MessageId of{};                    // step
  ExportedStep step;
  ExportedMessage message;      // but for its steps; schedule: what it makes
  ScheduleDefinition schedule;  // but for its message
  uint64_t count = 0;           // message: of its steps; end: of messages
  uint64_t schedules = 0;       // end
};

/// The fault is bad data without the line's number.
Result<ImportLine> parse_import_line(std::string_view line, int64_t now_wall_ms);

}  // namespace fq::cli
