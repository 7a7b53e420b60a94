// not_built - what the door offers and this engine does not do yet: the one list of it, which only shrinks.
//
// Until it is empty fq-redis is neither installed nor packaged.
#pragma once

// System.
#include <string>
#include <string_view>
// fq, below us.
#include "core/base/error.h"

namespace fq::not_built {

inline constexpr std::string_view kHold = "a lease held by a process (--lease gives one for a time)";
inline constexpr std::string_view kWatch = "a watched lease (fq worker)";
inline constexpr std::string_view kGroups = "groups (linger, batch)";
inline constexpr std::string_view kOutput = "kept output";
inline constexpr std::string_view kFollow = "following a job (push --wait, result -f)";
inline constexpr std::string_view kCommands = "commands in messages";
inline constexpr std::string_view kRetention = "keeping what has ended";
inline constexpr std::string_view kLimits = "limits, pools and pauses";
inline constexpr std::string_view kFairBy = "turns that cost bytes or time (fair_by)";
inline constexpr std::string_view kScope = "one order for the whole queue (scope)";
inline constexpr std::string_view kTenantRules = "rules for tenants and pools in fq.toml";
inline constexpr std::string_view kOverrides = "a list of what was set";
inline constexpr std::string_view kEdit = "changing a message";
inline constexpr std::string_view kSelect = "choosing messages by a filter";
inline constexpr std::string_view kWorkers = "a list of workers";
inline constexpr std::string_view kTenantStats = "sums by tenant";
inline constexpr std::string_view kExplain = "explaining";
inline constexpr std::string_view kRename = "another name for a queue";
inline constexpr std::string_view kCheck = "checking and compacting";

inline Error refusal(std::string_view what) {
  return Error{ErrorKind::unusable,
               "fq-redis: " + std::string(what) + ": is not there yet for queues on a server", 0};
}

}  // namespace fq::not_built
