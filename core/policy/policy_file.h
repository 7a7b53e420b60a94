// policy_file - the policy in fq.toml, for any one queue.
//
// `[queue.NAME]` is one queue, `[queue."pattern"]` those that match (`*` is the only wildcard). Each value
// comes from the most exact table that sets it, by queue, then by tenant: a plain name, then more literal
// characters, then the later one.
#pragma once

// System.
#include <map>
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/base/policy.h"
#include "core/base/result.h"
// fq, this room.
#include "core/policy/policy_reader.h"

namespace fq {

inline constexpr size_t kPolicyFileBytesMax = 1024 * 1024;

/// Narrowed down to one queue. Values of the queue and of its pools are those that hold, each key once; of
/// two tenant rules that match and set the same key the later one holds.
struct FilePolicy {
  std::vector<FileValue> queue;
  std::vector<FileRule> tenants;          // least exact first
  std::vector<FileRule> pools;            // by name
  std::vector<SharedSchedule> schedules;  // each name once
};

/// Its schedules; they live as long as the policy.
std::vector<ScheduleDefinition> schedules_of(const FilePolicy& policy);

/// The same without the lines.
Policy without_lines(const FilePolicy& policy);

/// Of several of one name the most exact table's is all of it.
using SchedulesByName = std::map<std::string_view, SharedSchedule>;

class PolicyFile {
 public:
  /// `path` is for messages only. Faults are ErrorKind::config: those that do not depend on the queue's name.
  static Result<PolicyFile> parse(std::string_view text, const std::string& path);

  /// A fault: tables that go well alone make no sense for this queue together.
  Result<FilePolicy> for_queue(std::string_view queue) const;
  /// Whether a table is for this queue by its name, and so for no other.
  bool has_table_of(std::string_view queue) const;

 private:
  explicit PolicyFile(const std::string& path) : path_(path) {}
  Result<void> check_pools() const;
  Result<void> check_tables() const;
  Result<void> check_order(const std::vector<FileValue>& values) const;
  Result<void> check_schedules(const std::vector<FileValue>& values, const SchedulesByName& schedules) const;
  Result<void> check_order_of(const FileSchedule& schedule, const std::vector<FileValue>& values) const;
  Result<void> check_payload_of(const FileSchedule& schedule, const std::vector<FileValue>& values) const;

  std::string path_;
  std::vector<FileQueue> queues_;  // least exact first
};

}  // namespace fq
