// policy_key - the one table of all that can be set: name, kind of value, where it may stand, default,
// wording.
//
// fq.toml, `set KEY=VALUE`, `config show`, `tenant list`, the help and the completions all follow it:
// a key exists in exactly one place.
#pragma once

// System.
#include <span>
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/base/policy.h"

namespace fq {

/// The kinds of nodes that a value is for; a set of them is their sum.
enum PolicyNode : unsigned { kQueueNode = 1, kTenantNode = 2, kPoolNode = 4 };

enum class ValueKind {
  word,      // one of `words`, whose place is its number
  duration,  // a span, or one of `words`
  range,     // two spans, "5s..1h"
  count,     // a whole number of 1 or more, or one of `words`
  size,      // "64KiB", or one of `words`
  rate,      // "100/min", or one of `words`
  weight,    // 0.1 to 1000
  pool,      // a name, or "none"
};

struct PolicyKeySpec {
  PolicyKey key;
  std::string_view name;
  ValueKind kind;
  unsigned nodes;
  std::string_view words;     // "none", "priority|fifo|key"
  std::string_view standard;  // the default
  std::string_view must_be;   // behind "must be"
};

/// In the order of `config show`.
std::span<const PolicyKeySpec> policy_keys();
/// Null when there is none of that name.
const PolicyKeySpec* find_policy_key(std::string_view name);
/// Null for a key that no person sets by KEY=VALUE.
const PolicyKeySpec* spec_of(PolicyKey key);
std::vector<std::string_view> policy_key_names(unsigned nodes);

/// "of queues", "of tenants and pools".
std::string nodes_text(unsigned nodes);

/// Why `name` cannot be set for such a node, and what may have been meant; the end of a message.
std::string unknown_key_text(std::string_view name, PolicyNode node);

/// The parts of "human|json".
std::vector<std::string_view> split_words(std::string_view words);

}  // namespace fq
