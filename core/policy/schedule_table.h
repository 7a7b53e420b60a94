// schedule_table - `[queue.X.schedule.NAME]` of fq.toml, read.
#pragma once

// System.
#include <string>
// fq, this room.
#include "core/policy/file_schedule.h"
#include "core/policy/toml.h"

namespace fq {

struct ScheduleTableFault {
  uint32_t line = 0;
  std::string text;
};

/// None, and the fault filled, when it is none.
SharedSchedule read_schedule(std::string_view name, const toml::table& table, ScheduleTableFault& fault);

}  // namespace fq
