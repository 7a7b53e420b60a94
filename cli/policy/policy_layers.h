// policy_layers - the values that hold for a queue and for each tenant, and where they come from: the
// settings at run time over fq.toml over the defaults.
#pragma once

// System.
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>
// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "core/policy/policy_file.h"
#include "core/policy/policy_key.h"

namespace fq::cli {

enum class Layer {
  standard,   // the default
  file,       // fq.toml, in `line`
  last_good,  // fq.toml as it was before it broke
  run_time,   // set
};

struct HeldValue {
  PolicyValue value;
  Layer layer = Layer::standard;
  uint32_t line = 0;
  std::string_view pattern;  // of the tenant's table; lives as long as the layers
};

class PolicyLayers {
 public:
  PolicyLayers(FilePolicy file, std::vector<PolicyOverride> overrides);
  PolicyLayers(PolicyLayers&&) = default;  // a copy would look into the names of the one that it is of

  /// All keys of queues, then those of commands (paused, ...) that were set. With `last_good` the values that
  /// the queue goes on with, as far as it tells them; the others are left out.
  std::vector<HeldValue> of_queue(const Settings* last_good = nullptr) const;
  /// All keys of tenants, in the same way; values of the nodes above it are not among them.
  std::vector<HeldValue> of_tenant(std::string_view path) const;
  /// Of a pool that the file defines.
  std::vector<HeldValue> of_pool(std::string_view name) const;

  const FilePolicy& file() const { return file_; }
  /// By path; of the queue under "".
  const std::map<std::string, PolicyValues, std::less<>>& overrides() const { return overrides_; }
  /// None when it was not set for this very path.
  const PolicyValue* find_override(std::string_view path, PolicyKey key) const;

 private:
  std::vector<const FileRule*> rules_for(std::string_view path) const;
  void add_overrides(std::string_view path, std::vector<HeldValue>& values) const;

  FilePolicy file_;
  std::map<std::string, PolicyValues, std::less<>> overrides_;
  // Rules by what names begin with that they match, and how long those beginnings are.
  std::unordered_map<std::string_view, std::vector<size_t>> rules_by_prefix_;
  std::set<size_t> prefix_lengths_;
};

/// The values set at run time, all pages of them.
Result<std::vector<PolicyOverride>> all_overrides(Queue& queue);

/// The nodes above a tenant, nearest first: "acme/reports" of "acme/reports/daily", then "acme".
std::vector<std::string_view> nodes_above(std::string_view path);

}  // namespace fq::cli
