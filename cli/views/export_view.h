// export_view - a queue as lines of JSON: a line that says which queue it is, its settings, its messages, its
// schedules, a last line.
//
//   {"type":"export","format":1,"queue":...,"origin":...,"at":...}
//   {"type":"setting","tenant":null,"key":...,"value":...}      tenant null: of the queue
//   {"type":"step","id":...,"name":...,...}                    before the message that it is of
//   {"type":"message","id":...,...}                             behind those that it names
//   {"type":"schedule","name":...,...}                          that was set by hand
//   {"type":"end","messages":...,"schedules":...}
// A field without its key is as in a new message. Bytes that are no UTF-8 stand under KEY_base64. A change of
// an old key raises the format; a new key does not, and an older fq refuses it by its name.
#pragma once

// fq, below us.
#include "core/api/exported.h"
#include "core/api/schedules.h"
#include "core/base/policy.h"
#include "core/base/text/json_writer.h"

namespace fq::cli {

inline constexpr uint64_t kExportFormat = 1;

/// Lines, each with its newline.
std::string export_line(std::string_view queue, std::string_view origin, int64_t now_wall_ms);
std::string setting_line(std::string_view tenant, const PolicyValue& value, int64_t now_wall_ms);
std::string exported_lines(const ExportedMessage& message);
std::string exported_schedule(const ScheduleInfo& schedule);
std::string end_line(uint64_t messages, uint64_t schedules);

}  // namespace fq::cli
