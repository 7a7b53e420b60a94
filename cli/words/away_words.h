// away_words - parts of queues that did not answer, as JSON.
#pragma once

// System.
#include <string_view>
// fq, below us.
#include "core/api/away.h"
#include "core/base/text/json_writer.h"

namespace fq::cli {

/// Behind what is said of them.
inline constexpr std::string_view kWithoutThem = "; what is above is without them";

/// A key of an object, and what it has.
void write_away(JsonWriter& json, const AwayList& away);
/// In the object of one queue, where it is without some.
void write_partial(JsonWriter& json, const AwayList& away);

}  // namespace fq::cli
