// tenant_name - the rules for names of tenants and queues, in one place.
//
// A tenant is UTF-8, at most 255 bytes and 8 levels by `/`, no level empty, `.` or `..`, no control
// characters. A queue is 1 to 64 of `A-Z a-z 0-9 . _ -` and does not begin with `.` or `-`, so that it is
// always one harmless file name.
#pragma once

// System.
#include <string_view>

namespace fq {

/// The fault of a name, as the middle of a sentence ("has an empty level"), or "" when all is well.
std::string_view tenant_name_fault(std::string_view name);
std::string_view queue_name_fault(std::string_view name);

/// A name that a shell takes for a variable: letters, digits and `_`, no digit first.
bool is_shell_name(std::string_view name);

}  // namespace fq
