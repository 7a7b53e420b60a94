// schedule_view - schedules as a table, one of them in full, and as JSON.
#pragma once

// System.
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/api/schedules.h"
#include "core/base/text/json_writer.h"
// fq, this room.
#include "cli/terminal/table.h"

namespace fq::cli {

/// A schedule, and what became of its last time in a word.
struct ToldSchedule {
  ScheduleInfo info;
  std::string fate;  // "" where there was none: acked, leased, skipped, missed and so on
};

std::string_view name_of(MissedRule rule);
std::string_view name_of(OverlapRule rule);
std::string_view name_of(Occurrence occurrence);

std::string schedule_table(const std::vector<ToldSchedule>& schedules, int64_t now_ms, const Screen& screen);
/// One of them, a line a thing.
std::string schedule_text(const ToldSchedule& schedule);
/// A schedule as explain shows it, in a line: when it is next, and why its last time made nothing.
std::string schedule_line(const ScheduleInfo& info);
/// The same as keys of an object; null of what is no schedule.
void write_schedule_keys(JsonWriter& json, const ScheduleInfo* schedule);
/// With the newline.
std::string schedule_json(const ToldSchedule& schedule, std::string_view queue);

}  // namespace fq::cli
