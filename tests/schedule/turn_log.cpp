#include "tests/schedule/turn_log.h"

namespace fq::test {

uint32_t TurnLog::node_of(uint32_t parent, const std::string& name) {
  const auto [found, made] = by_name_.try_emplace(name, static_cast<uint32_t>(nodes_.size()));
  if (made) {
    nodes_.push_back({});
    nodes_.back().name = name;
    nodes_.back().parent = parent;
    seen_.resize(nodes_.size(), 0);
  }
  return found->second;
}

const TurnLog::Node* TurnLog::find(const std::string& name) const {
  auto found = by_name_.find(name + "/");
  if (found == by_name_.end()) found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &nodes_[found->second];
}

void TurnLog::before_turn(const Schedule& schedule, SlotIndex slot, const std::string& tenant) {
  indexes_.clear();
  TenantIndex index{schedule.messages().entry(slot).tenant.get()};
  for (; index != kRootTenant; index = TenantIndex{schedule.tenants().at(index).parent.get()})
    indexes_.insert(indexes_.begin(), index);
  path_.assign(1, 0);
  size_t end = 0;
  for (const TenantIndex each : indexes_) {
    const bool self = (schedule.tenants().at(each).flags & kTenantSelf) != 0;
    if (!self) end = std::min(tenant.find('/', end == 0 ? 0 : end + 1), tenant.size());
    path_.push_back(node_of(path_.back(), self ? tenant + "/" : tenant.substr(0, end)));
    Node& node = nodes_[path_.back()];
    const Tenant& at = schedule.tenants().at(each);
    node.weight_milli = at.weight_milli;
    if (node.begin == SIZE_MAX) continue;
    // Who lost its seat in between has taken another.
    if (node.sequence == at.sequence) look_at_window(nodes_[node.parent], node);
  }
  if (schedule.root().places_used != 0) close_windows_without_room(schedule);
}

/// Of those beside the path that lack room in a pool now.
void TurnLog::close_windows_without_room(const Schedule& schedule) {
  const SeatKind kind{&schedule.region()};
  for (Node& node : nodes_) {
    if (node.begin == SIZE_MAX || !is_used(schedule.tenants().at(node.index))) continue;
    // A leaf that has become a self child meanwhile: its seat is its parent's now.
    const Tenant& at = schedule.tenants().at(node.index);
    const bool is_self = (at.flags & kTenantSelf) != 0;
    if (is_self && !node.name.ends_with('/')) node.index = TenantIndex{at.parent.get()};
    const bool open = (kind.sets(static_cast<uint32_t>(node.index)) & open_sets(schedule.root())) != 0;
    if (!open) node.begin = SIZE_MAX;
  }
}

void TurnLog::look_at_window(Node& parent, Node& child) {
  ++windows_, ++child.windows;
  const auto& turns = parent.turns_below;
  for (size_t i = child.begin; i < turns.size(); ++i) ++seen_[turns[i]];
  for (size_t i = child.begin; i < turns.size(); ++i) {
    const uint64_t count = seen_[turns[i]];
    seen_[turns[i]] = 0;
    if (count == 0) continue;
    const Node& other = nodes_[turns[i]];
    const uint64_t bound = allowed(child.weight_milli, other.weight_milli);
    if (count > bound)
      breaches_.push_back(other.name + " had " + std::to_string(count) + " turns between two of " +
                          child.name + ", the bound is " + std::to_string(bound));
    // Which is closer to its bound, as fractions.
    if (child.allowed == 0 || count * child.allowed > child.most * bound) {
      child.most = count;
      child.allowed = bound;
    }
  }
}

void TurnLog::after_turn(const Schedule& schedule, int64_t run_ms) {
  for (size_t i = 1; i < path_.size(); ++i) {
    Node& node = nodes_[path_[i]];
    nodes_[path_[i - 1]].turns_below.push_back(path_[i]);
    ++node.turns;
    node.run_ms += static_cast<uint64_t>(run_ms);
    const Tenant& at = schedule.tenants().at(indexes_[i - 1]);
    node.begin = is_seated(at) ? nodes_[path_[i - 1]].turns_below.size() : SIZE_MAX;
    node.sequence = at.sequence;
    node.index = indexes_[i - 1];
  }
  ++nodes_[0].turns;
  nodes_[0].run_ms += static_cast<uint64_t>(run_ms);
}

void TurnLog::close_windows() {
  for (Node& node : nodes_) node.begin = SIZE_MAX;
}

double TurnLog::share_of(const Node& node) const {
  std::vector<double> below(nodes_.size(), 0);
  for (size_t i = 1; i < nodes_.size(); ++i) below[nodes_[i].parent] += nodes_[i].weight_milli;
  double share = 1;
  for (const Node* at = &node; at != &nodes_[0]; at = &nodes_[at->parent])
    share *= at->weight_milli / below[at->parent];
  return share;
}

}  // namespace fq::test
