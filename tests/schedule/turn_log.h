// turn_log - who had which turns at each node of the tree, and the bound of P6 over them.
//
// A window of a child lies between two of its turns of which it kept its seat all the while, and was passed
// over by nobody: it always had something and nothing blocked it. In a window another child has at most
//   ceil(length of my turn / length of its turn)
// turns, where a turn is as long as turn_of(weight) says. Why: my tag goes from f to f + mine in the window.
// Each turn that another has in it is at its own tag, those tags lie between f and f + mine, and are its own
// turn's length apart. Where mine is a multiple of that, one more would fit (both ends), but equal tags are
// served in the order in which seats were taken, and at f + mine I took mine before it took its own.
#pragma once

// System.
#include <map>
#include <string>
#include <vector>
// Tests.
#include "tests/schedule/fixture.h"

namespace fq::test {

class TurnLog {
 public:
  struct Node {
    std::string name;  // a path; with a `/` at its end: the messages of an inner node's own path
    uint32_t parent = 0;
    std::vector<uint32_t> turns_below;  // whose turns they were
    uint32_t weight_milli = kWeightDefault;
    uint64_t turns = 0;
    uint64_t run_ms = 0;
    uint64_t windows = 0;
    // The window in which another came closest to its bound, or furthest beyond it.
    uint64_t most = 0;
    uint64_t allowed = 0;
    // The window that is open.
    size_t begin = SIZE_MAX;
    uint64_t sequence = 0;
    TenantIndex index{};
  };

  /// Before and after each turn. `tenant` is the path that was pushed to.
  void before_turn(const Schedule& schedule, SlotIndex slot, const std::string& tenant);
  void after_turn(const Schedule& schedule, int64_t run_ms);
  /// Weights have changed, or nodes were forgotten: windows that are open are no windows.
  void close_windows();

  const std::vector<Node>& nodes() const { return nodes_; }
  /// The node that has the messages of this path, or nullptr.
  const Node* find(const std::string& name) const;
  uint64_t windows() const { return windows_; }
  /// Windows in which the bound was broken, in words.
  const std::vector<std::string>& breaches() const { return breaches_; }
  /// The share of all turns that its weights give it while all that were seen have work.
  double share_of(const Node& node) const;

  static uint64_t allowed(uint32_t my_weight_milli, uint32_t its_weight_milli) {
    const uint64_t its = turn_of(its_weight_milli);
    return (turn_of(my_weight_milli) + its - 1) / its;
  }

 private:
  uint32_t node_of(uint32_t parent, const std::string& name);
  void look_at_window(Node& parent, Node& child);
  void close_windows_without_room(const Schedule& schedule);

  std::vector<Node> nodes_{Node{}};  // the root first
  std::map<std::string, uint32_t> by_name_;
  std::vector<uint32_t> path_;        // of the turn that is under way, the root first
  std::vector<TenantIndex> indexes_;  // likewise
  std::vector<uint32_t> seen_;        // turns in the window that is looked at, by node
  uint64_t windows_ = 0;
  std::vector<std::string> breaches_;
};

}  // namespace fq::test
