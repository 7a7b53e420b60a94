#include "cli/views/step_view.h"

// fq, below us.
#include "core/base/text/size.h"
#include "core/base/text/wall_time.h"
// fq, this room.
#include "cli/terminal/table.h"
#include "cli/words/local_time.h"

namespace fq::cli {

namespace {

void write_step(JsonWriter& json, const StepInfo& step) {
  json.begin_object().key("name").text(step.name).key("at").text(format_wall_time(step.at_wall_ms));
  json.key("bytes").number(step.bytes).key("kind").text(name_of(step.kind)).end_object();
}

}  // namespace

std::string step_table(const std::vector<StepInfo>& steps) {
  Table table({0, 1, 2, 3});
  table.row({"NAME", "KIND", "AT", "BYTES"});
  for (const StepInfo& step : steps)
    table.row({step.name, std::string(name_of(step.kind)), local_time_text(step.at_wall_ms),
               format_size(step.bytes)});
  return table.text();
}

std::string step_json(const StepInfo& step) {
  std::string line;
  JsonWriter json(line);
  write_step(json, step);
  return line;
}

void write_steps(JsonWriter& json, const std::vector<StepInfo>& steps) {
  json.begin_array();
  for (const StepInfo& step : steps) write_step(json, step);
  json.end_array();
}

}  // namespace fq::cli
