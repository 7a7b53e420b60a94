// policy_value - one value of a policy from the text that a person writes, and back.
#pragma once

// System.
#include <string>
#include <string_view>
// fq, below us.
#include "core/base/text/json_writer.h"
#include "core/base/policy.h"
#include "core/base/result.h"
// fq, this room.
#include "core/policy/policy_key.h"

namespace fq {

/// The error (ErrorKind::usage) is only what it must be: "must be a number ...".
Result<PolicyValue> parse_policy_value(const PolicyKeySpec& spec, std::string_view text);

/// The shortest text that parses back to the same. Of `paused` and `draining` "yes"; of `limited`, which is
/// no text of a person, for how many more seconds.
std::string policy_value_text(const PolicyValue& value);

/// The same as fq.toml would have it, a number where that is one; `paused` and `draining` are true, and
/// `limited` is the time that it ends at.
void write_policy_value(JsonWriter& json, const PolicyValue& value);

PolicyValue standard_of(const PolicyKeySpec& spec);

/// "unlimited", "auto" or "none", said as one of those words.
bool is_word_only(const PolicyKeySpec& spec, const PolicyValue& value);

}  // namespace fq
