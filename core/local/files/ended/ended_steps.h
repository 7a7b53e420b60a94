// ended_steps - the steps of a message that has ended, as a text in its record: for each {u8 kind, u8 bytes
// of its name, i64 when it was kept, u64 bytes of its output, name}.
#pragma once

// fq, below us.
#include "core/api/steps.h"

namespace fq {

std::string encode_ended_steps(const std::vector<StepInfo>& steps);
/// As far as it is one.
std::vector<StepInfo> decode_ended_steps(std::string_view text);

}  // namespace fq
