// local_time - times of the clock on the wall: `2026-11-02 08:00[:30]` and `08:00[:30]` as people type them,
// and instants as human views show them.
//
// The zone is the C library's: TZ, else /etc/localtime. A time that a clock change leaves out is refused, of
// one that comes twice it is the first. An engine knows no zones: it is given instants.
#pragma once

// System.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
// fq, below us.
#include "core/base/result.h"

namespace fq::cli {

/// Of a time without a date: the first one from now on, or the last one up to now.
enum class Nearest { next, last };

/// None: `text` is no local time at all. ErrorKind::usage: it does not exist; ErrorKind::config: its zone
/// does not. `name` starts the message.
Result<std::optional<int64_t>> parse_local_time(std::string_view name, std::string_view text, int64_t now_ms,
                                                Nearest nearest);

/// "2026-11-02T08:00:30.250+01:00"; in UTC it ends in "Z".
std::string local_time_text(int64_t wall_ms);

}  // namespace fq::cli
