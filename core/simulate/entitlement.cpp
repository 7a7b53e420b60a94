#include "core/simulate/entitlement.h"

namespace fq {

Entitlement::Entitlement(WeightOf weight_of) : weight_of_(std::move(weight_of)) { add("", 0, 1); }

uint32_t Entitlement::add(std::string path, uint32_t parent, double weight) {
  nodes_.push_back({.path = std::move(path), .parent = parent, .weight = weight});
  return static_cast<uint32_t>(nodes_.size() - 1);
}

uint32_t Entitlement::node_of(std::string_view path) {
  if (path.empty()) return 0;
  const auto found = by_path_.find(std::string(path));
  if (found != by_path_.end()) return found->second;
  const size_t slash = path.rfind('/');
  const uint32_t parent = node_of(path.substr(0, slash == std::string_view::npos ? 0 : slash));
  const uint32_t node = add(std::string(path), parent, weight_of_(path));
  by_path_.emplace(path, node);
  return node;
}

/// A path's own messages are one child of its node, beside the nodes below it, with the usual weight.
uint32_t Entitlement::leaf_of(std::string_view tenant) {
  const auto found = leaves_.find(std::string(tenant));
  if (found != leaves_.end()) return found->second;
  const uint32_t leaf = add("", node_of(tenant), 1000);
  leaves_.emplace(tenant, leaf);
  return leaf;
}

/// Needs: at most the depth of a tenant's path.
void Entitlement::settle(uint32_t at) {
  if (at == 0) return;
  settle(nodes_[at].parent);
  Node& node = nodes_[at];
  const double clock = nodes_[node.parent].clock;
  if (node.waiting > 0) {
    const double owed = node.weight * (clock - node.seen);
    node.owed += owed;
    if (node.waiting_weight > 0) node.clock += owed / node.waiting_weight;
  }
  node.seen = clock;
}

void Entitlement::begin_waiting(uint32_t leaf) {
  settle(leaf);
  for (uint32_t at = leaf; ++nodes_[at].waiting == 1 && at != 0; at = nodes_[at].parent)
    nodes_[nodes_[at].parent].waiting_weight += nodes_[at].weight;
}

void Entitlement::end_waiting(uint32_t leaf) {
  settle(leaf);
  for (uint32_t at = leaf; --nodes_[at].waiting == 0 && at != 0; at = nodes_[at].parent) {
    Node& parent = nodes_[nodes_[at].parent];
    parent.waiting_weight = parent.waiting == 1 ? 0 : parent.waiting_weight - nodes_[at].weight;
  }
}

void Entitlement::reweigh() {
  for (uint32_t at = 1; at < nodes_.size(); ++at) settle(at);
  for (uint32_t at = 1; at < nodes_.size(); ++at) {
    Node& node = nodes_[at];
    if (node.path.empty()) continue;
    const double weight = weight_of_(node.path);
    if (node.waiting > 0) nodes_[node.parent].waiting_weight += weight - node.weight;
    node.weight = weight;
  }
}

}  // namespace fq
