// policy_view - values of a policy, each with where it comes from, as a table and as JSON lines.
#pragma once

// System.
#include <string>
#include <string_view>
#include <vector>
// fq, this room.
#include "cli/policy/policy_layers.h"

namespace fq::cli {

/// Of a tenant, of a pool, of a table for tenants (`held.pattern`), or else of the queue.
struct PolicyRow {
  std::string tenant;
  std::string pool;
  HeldValue held;
};

struct PolicySection {
  std::string_view label;  // heading of the column that says whose each value is; "": none
  std::vector<PolicyRow> rows;
};

std::string policy_table(const std::vector<PolicySection>& sections);
std::string policy_json(const std::string& queue, const std::vector<PolicySection>& sections);

/// The name as it stands in fq.toml.
std::string_view policy_key_name(PolicyKey key);

}  // namespace fq::cli
