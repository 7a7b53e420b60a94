// covering_tables - of many tables of queues those whose name takes in all that another one takes in.
//
// Each lies under the longest piece of its name that has no star, which is in every name that it takes in: so
// a name is held only against those of which it has a piece, and not against all.
#pragma once

// System.
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>
// fq, this room.
#include "core/policy/policy_reader.h"

namespace fq {

class CoveringTables {
 public:
  void add(const FileQueue& queue);
  /// By their place in memory.
  std::vector<const FileQueue*> of(std::string_view name) const;

 private:
  std::unordered_multimap<std::string_view, const FileQueue*> by_piece_;
  std::set<size_t> lengths_;  // of these pieces
};

}  // namespace fq
