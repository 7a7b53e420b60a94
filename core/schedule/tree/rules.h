// rules - the tenant entries of the policy file, and which of them speak of a path.
//
// An index by what a pattern begins with before its first `*`: a plain name is all beginning. To find the
// rules for a path, each of its own beginnings is looked up whose length some pattern has, so ten thousand
// plain names cost a few looks. Rules with one beginning are linked behind the one in the index.
//
// A new file is loaded beside the rules that hold: its rules get a generation of their own, which one store
// makes the one that holds. The others are then removed piece by piece, by the process that loads next if
// need be.
#pragma once

// System.
#include <array>
#include <optional>
#include <string_view>
// fq, this room.
#include "core/schedule/rings/control.h"
#include "core/schedule/memory/linear_hash.h"

namespace fq {

/// The summary of all rules that is needed before others are loaded, or put into force.
struct RuleSummary {
  uint32_t generation = 0;             // the highest
  uint32_t given = 0;                  // by the rules of that one
  std::array<uint64_t, 4> prefixes{};  // of the same rules: lengths of their beginnings, as in the root
  uint32_t generation_of_pools = 0;    // the highest
};

struct RuleIndexKind
    : IndexKind<&ScheduleRoot::rule_buckets, &ScheduleRoot::rule_bucket_count, &ScheduleRoot::rules, 1> {
  static uint64_t hash_of(const Rule& rule) { return rule.hash; }
};

class Rules {
 public:
  explicit Rules(const Region& region) : region_(region), index_(RuleIndexKind{&region}) {}

  bool any() const { return region_.root.rules_generation != 0; }
  /// The terms that the rules in force give this path.
  NodeTerms terms_of(std::string_view path) const;

  /// Takes in the rules [from, to), and those pools.
  void sum_up(uint32_t from, uint32_t to, RuleSummary& summary) const;
  /// One step. Needs: room for a rule and text_cells(pattern.size()) cells, twice that with a pool.
  void add(Txn& txn, uint32_t generation, uint32_t rank, std::string_view pattern,
           const NodePatch& values) const;
  /// From now on those of this generation hold; 0: none. Needs: the summary of all.
  void make_current(Txn& txn, uint32_t generation, const RuleSummary& summary) const;
  /// Removes some that do not hold, from index `from` on; returns where to go on, or none at the end.
  std::optional<uint32_t> remove_old(Txn& txn, uint32_t from) const;

 private:
  uint64_t hash_of(uint32_t generation, std::string_view prefix) const;
  bool begins_with(const Rule& rule, std::string_view prefix) const;

  const Region& region_;
  LinearHash<RuleIndexKind> index_;
};

}  // namespace fq
