// simulate_view - the results of a simulation, beside what happened: a table for a person, or a JSON object a
// tenant and one for all.
#pragma once

// System.
#include <optional>
#include <string>
// fq, below us.
#include "core/simulate/figures.h"
// fq, this room.
#include "cli/terminal/screen.h"

namespace fq::cli {

/// `before`: none for a load that never was. Both are of the same tenants.
struct Compared {
  std::optional<Report> before;
  Report after;
};

std::string simulate_table(const Compared& compared, const Screen& screen);
std::string simulate_json(const Compared& compared);

}  // namespace fq::cli
