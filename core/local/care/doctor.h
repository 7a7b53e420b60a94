// doctor - rows of what fq rests on: where the spool lies, and what the system gives.
#pragma once

// System.
#include <optional>
#include <string>
#include <vector>
// fq, below us.
#include "core/api/doctor.h"

namespace fq {

/// File system, its mount, room, rights, damage set aside, and the processes attached.
void examine_place(const std::string& spool, const std::optional<std::string>& queue,
                   std::vector<DoctorRow>& rows);
/// Kernel, locks, limits of this process, clocks.
void examine_system(std::vector<DoctorRow>& rows);

inline void add_row(std::vector<DoctorRow>& rows, std::string about, std::string found,
                    Health health = Health::ok, std::string advice = {}) {
  rows.push_back({std::move(about), std::move(found), health, std::move(advice)});
}

}  // namespace fq
