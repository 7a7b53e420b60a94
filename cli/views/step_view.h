// step_view - the steps of a message, as a table and as JSON.
#pragma once

// System.
#include <string>
#include <vector>
// fq, below us.
#include "core/api/steps.h"
#include "core/base/text/json_writer.h"

namespace fq::cli {

std::string step_table(const std::vector<StepInfo>& steps);
std::string step_json(const StepInfo& step);
/// As the value of a key.
void write_steps(JsonWriter& json, const std::vector<StepInfo>& steps);

}  // namespace fq::cli
