// entitlement - the share that the weights promise each tenant, of the turns that are taken while it has
// messages waiting.
//
// Each node of the tenant tree has a clock that goes on by the cost served below it, in parts of the weights
// of those of its children that have something waiting. So a turn costs one addition, however many tenants
// there are, and the entitlement of a node is its weight times how far its parent's clock went on since it
// came.
#pragma once

// System.
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fq {

class Entitlement {
 public:
  using WeightOf = std::function<uint32_t(std::string_view path)>;
  explicit Entitlement(WeightOf weight_of);

  /// For the messages of this very path; the same each time.
  uint32_t leaf_of(std::string_view tenant);
  /// Weights are asked for anew.
  void reweigh();

  void begin_waiting(uint32_t leaf);
  void end_waiting(uint32_t leaf);
  /// A turn that costs so much was taken by one that is waiting.
  void serve(double cost) {
    Node& root = nodes_[0];
    if (root.waiting_weight > 0) root.clock += cost / root.waiting_weight;
  }
  /// Its entitlement until now.
  double owed(uint32_t leaf) {
    settle(leaf);
    return nodes_[leaf].owed;
  }

 private:
  struct Node {
    std::string path;
    uint32_t parent = 0;
    uint32_t waiting = 0;  // of a leaf: messages; else children
    double weight = 1;
    double waiting_weight = 0;  // of those children
    double clock = 0;
    double seen = 0;  // of the parent's clock
    double owed = 0;
  };

  uint32_t node_of(std::string_view path);
  uint32_t add(std::string path, uint32_t parent, double weight);
  void settle(uint32_t node);

  WeightOf weight_of_;
  std::vector<Node> nodes_;
  std::unordered_map<std::string, uint32_t> by_path_, leaves_;
};

}  // namespace fq
