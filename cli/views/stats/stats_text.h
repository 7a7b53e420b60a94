// stats_text - measures as a person reads them: short, and "-" where there is none.
#pragma once

// System.
#include <optional>
#include <string>
#include <string_view>
// fq, below us.
#include "core/api/queue.h"

namespace fq::cli {

/// "<1ms", "35ms", "2.1s": two digits are enough for a measure that is rounded itself.
std::string wait_text(const std::optional<int64_t>& ms);
std::string age_text(const std::optional<double>& seconds);
/// Over the last minute.
std::string rate_text(const std::optional<Rates>& rates);
std::string percent_text(const std::optional<double>& part);
std::string index_text(const std::optional<double>& index);

/// How wide the names of tenants and their queues are at least, before what can be spared is left out for
/// them: so that tables of both fit a screen of so many columns.
size_t name_columns(size_t screen_columns, bool several_queues);

/// How many waited how long, in ten columns: below 1 ms, 8 ms, 64 ms, half a second, 4 s, 33 s, 4 minutes,
/// 35 minutes, 4.7 hours, and longer.
std::string waits_text(const Percentiles& waits, bool utf8);

}  // namespace fq::cli
