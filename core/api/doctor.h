// doctor - the things that fq rests on, at a place and on a machine, as rows for a person.
#pragma once

// System.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fq {

enum class Health { ok, warning, fault };

/// One thing that fq rests on.
struct DoctorRow {
  std::string about;  // "file system", "descriptors", ...
  std::string found;
  Health health = Health::ok;
  std::string advice;                   // what to do; empty where all is well
  std::optional<int64_t> at_wall_ms{};  // a time that `found` begins with, in UTC
};

/// Examines a spool, which may not be there yet, and all below and around it; of its queues `queue` alone, or
/// with none named all. Changes nothing.
std::vector<DoctorRow> examine(const std::string& spool, const std::optional<std::string>& queue);

}  // namespace fq
