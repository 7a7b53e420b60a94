#include "core/policy/covering_tables.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/text/pattern.h"

namespace fq {

namespace {

/// "": there are only stars.
std::string_view longest_piece(std::string_view pattern) {
  std::string_view longest;
  for (size_t from = 0; from <= pattern.size();) {
    const size_t end = std::min(pattern.find('*', from), pattern.size());
    if (end - from > longest.size()) longest = pattern.substr(from, end - from);
    from = end + 1;
  }
  return longest;
}

/// `pattern` takes in every name that `other`, read as a pattern too, takes in. (Its stars are characters
/// like others here, which only a star can take in.)
bool covers(std::string_view pattern, std::string_view other) { return pattern_matches(pattern, other); }

}  // namespace

void CoveringTables::add(const FileQueue& queue) {
  const std::string_view piece = longest_piece(queue.queue.name);
  by_piece_.emplace(piece, &queue);
  lengths_.insert(piece.size());
}

std::vector<const FileQueue*> CoveringTables::of(std::string_view name) const {
  std::vector<const FileQueue*> found;
  for (const size_t length : lengths_) {
    for (size_t from = 0; from + length <= name.size(); ++from) {
      const auto [first, last] = by_piece_.equal_range(name.substr(from, length));
      for (auto each = first; each != last; ++each) {
        if (covers(each->second->queue.name, name)) found.push_back(each->second);
      }
      if (length == 0) break;
    }
  }
  // A piece may be in it more than once.
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace fq
