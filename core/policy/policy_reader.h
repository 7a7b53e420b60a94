// policy_reader - the text of fq.toml as tables of typed values, each with its line.
//
// Everything is checked here but what needs more than one table: an unknown key or a bad value anywhere is
// an error, also in a table for other queues, so that a slip never waits for its moment.
#pragma once

// System.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/base/policy.h"
#include "core/base/result.h"
// fq, this room.
#include "core/policy/file_schedule.h"

namespace fq {

/// Where in the file.
struct PolicyPlace {
  uint32_t line = 0;
  uint32_t column = 0;
  auto operator<=>(const PolicyPlace&) const = default;
};

struct FileValue {
  PolicyValue value;
  uint32_t line = 0;
};

/// A table: `name` is a pattern of queues or of tenants, or a pool's name.
struct FileRule {
  std::string name;
  PolicyPlace place;
  std::vector<FileValue> values;
};

/// All of `[queue.X]`.
struct FileQueue {
  FileRule queue;
  std::vector<FileRule> tenants;
  std::vector<FileRule> pools;
  std::vector<SharedSchedule> schedules;
};

/// In no order. `path` is for messages only. Faults are ErrorKind::config.
Result<std::vector<FileQueue>> read_policy_tables(std::string_view text, const std::string& path);

/// "fq.toml:3: what".
Error policy_fault(const std::string& path, uint32_t line, std::string_view what);

}  // namespace fq
