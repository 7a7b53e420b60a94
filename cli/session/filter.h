// filter - -t, --tag and their like as a filter, for every command that chooses messages by their values.
#pragma once

// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "cli/words/arguments.h"
#include "cli/words/option.h"

namespace fq::cli {

inline constexpr OptionSpec kTenantFilter = {
    "Which", 't', "tenant", Takes::value, "TENANT", "only of this tenant and below (default: any)"};
inline constexpr OptionSpec kTagFilter = {"Which", 0, "tag", Takes::value, "K=V", "only those with this tag"};

/// The filter of -t and --tag; nothing typed takes everything. `tenant`: the long name of -t.
Result<Filter> filter_of(const Arguments& arguments, std::string_view tenant = "tenant");

/// A tenant is no pattern: one with a * that no tenant has in its name is ErrorKind::usage.
Result<void> refuse_pattern(Queue& queue, const std::string& tenant);

}  // namespace fq::cli
