// file_schedule - a schedule as `[queue.X.schedule.NAME]` of fq.toml wants it.
#pragma once

// System.
#include <cstdint>
#include <memory>
#include <string>
// fq, below us.
#include "core/api/schedules.h"

namespace fq {

/// A definition, with what its views point to: as long as this lives.
struct FileSchedule {
  ScheduleDefinition definition;
  std::string tenant, payload, key;
  uint32_t priority_line = 0, key_line = 0, payload_line = 0;  // 0: it has none
};

/// Shared, since definitions point into it and tables are copied from queue to queue.
using SharedSchedule = std::shared_ptr<const FileSchedule>;

}  // namespace fq
