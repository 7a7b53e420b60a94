// model_next - whose turn it is: by tags, by what messages say, or by age.

// System.
#include <algorithm>
// Tests.
#include "tests/fakes/model_turns.h"

namespace fq::test {

bool ModelTurns::can_be_served(const std::string& path) const {
  const Node& node = nodes_.find(path)->second;
  if (!node.seated || (pools_.contains(node.pool) && !has_room(node.pool))) return false;
  if (path.back() == '/') return true;
  const std::vector<const Entry*> children = children_of(path);
  return std::any_of(children.begin(), children.end(),
                     [&](const Entry* child) { return can_be_served(child->first); });
}

void ModelTurns::set_ranked(bool ranked, bool ages) {
  if (ranked && !ranked_)
    for (auto& [path, node] : nodes_) node.turns = 0;
  ranked_ = ranked, ages_ = ages;
}

bool ModelTurns::is_turn_by_age(std::string_view path) const {
  return ranked_ && ages_ && nodes_.find(path)->second.turns + 1 >= 16;
}

std::string ModelTurns::best_leaf(const std::string& path, const Before& before) const {
  if (!path.empty() && path.back() == '/') return path;
  std::string best;
  for (const Entry* child : children_of(path)) {
    if (!can_be_served(child->first)) continue;
    const std::string leaf = best_leaf(child->first, before);
    if (best.empty() || before(leaf, best)) best = leaf;
  }
  return best;
}

std::string ModelTurns::next(std::string_view from, const Before& before) const {
  std::string path(from);
  if (!nodes_.contains(path) || is_blocked(path)) return "";
  const auto goes_first = [&](const std::string& x, const std::string& y) {
    const Node& a = nodes_.find(x)->second;
    const Node& b = nodes_.find(y)->second;
    if (is_turn_by_age(from)) return a.stamp < b.stamp;
    if (ranked_) {
      const std::string of_x = best_leaf(x, before), of_y = best_leaf(y, before);
      if (before(of_x, of_y)) return true;
      if (before(of_y, of_x)) return false;
    }
    return a.tag != b.tag ? a.tag < b.tag : a.sequence < b.sequence;
  };
  while (path.empty() || path.back() != '/') {
    std::string first;
    for (const Entry* child : children_of(path)) {
      if (!can_be_served(child->first)) continue;
      if (first.empty() || goes_first(child->first, first)) first = child->first;
    }
    if (first.empty()) return "";
    path = first;
  }
  return nodes_.find(path)->second.count > 0 ? path : "";
}

}  // namespace fq::test
