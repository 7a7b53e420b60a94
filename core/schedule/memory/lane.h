// lane - an order that is cheap when things come in order.
//
// An element that fits at either end of the list is linked there: O(1). Any other goes into a height-bounded
// tree (AVL, without parent links: a path is remembered on the way down), O(log n). The first of the lane is
// the smaller of the list's head and the tree's least. Serves the messages of a tenant (message_lane.h) and
// the ring of an inner node (seats.h).
//
// A Kind says what is linked: at(i) gives the element (with prev, next, height, flags), most() how many there
// can be, kInTree is the flag in it, less(x, y) the order of two elements, may_list(i, x) whether one may go
// into the list at all. Where kSums is set, each element of the tree also has a sum over its subtree, from
// which a search can tell whether there is something for it below: sum(i) works out that of i from its own
// and those of its children, sum_of(i) is it, take_sum(to, from) copies it.
//
// Invariants
//  L1  The list, from head by next, is strictly increasing, and prev is the opposite of next.
//  L2  The tree is a search tree by less, its heights are right and differ by at most one.
//  L3  kInTree is set in exactly those that lie in the tree; count is the number of both.
//  L4  The sum of each element in the tree is right.
#pragma once

// System.
#include <algorithm>
#include <type_traits>
#include <utility>
// fq, this room.
#include "core/schedule/memory/region.h"

namespace fq {

inline constexpr uint32_t kTreeHeightMax = 48;  // an AVL tree of 2^32 elements is lower

template <class Kind>
class LaneOps {
 public:
  explicit LaneOps(Kind kind) : kind_(kind) {}

  /// Puts in i, which is `node`. Needs: i in no lane, nothing equal in this one. At most 1 + log steps.
  template <class Node>
  [[gnu::always_inline]] void insert(Txn& txn, const Opened<Lane>& lane, uint32_t i,
                                     const Opened<Node>& node) const {
    if (lane->count >= kNoIndex - 1) region_damaged("a lane holds too many");
    const uint32_t tail = lane->tail;
    add_to(lane, &Lane::count, 1);
    if (!kind_.may_list(i, *node)) return insert_tree(txn, lane, i, node);
    if (tail == kNoIndex) {
      node.set(&Node::prev, kNoIndex);
      node.set(&Node::next, kNoIndex);
      lane.set(&Lane::head, i);
      lane.set(&Lane::tail, i);
      return;
    }
    Node& last = kind_.at(tail);
    if (kind_.less(last, *node)) {
      node.set(&Node::prev, tail);
      node.set(&Node::next, kNoIndex);
      txn.set(last.next, i);
      lane.set(&Lane::tail, i);
      return;
    }
    const uint32_t head = lane->head;
    Node& first_node = kind_.at(head);
    if (!kind_.less(*node, first_node)) return insert_tree(txn, lane, i, node);
    node.set(&Node::prev, kNoIndex);
    node.set(&Node::next, head);
    txn.set(first_node.prev, i);
    lane.set(&Lane::head, i);
  }

  /// Takes out i, which is `node`. Needs: i in this lane, and its order as it was at insert.
  template <class Node>
  void remove(Txn& txn, const Opened<Lane>& lane, uint32_t i, const Opened<Node>& node) const {
    if ((node->flags & Kind::kInTree) != 0) {
      remove_tree(txn, lane, i, kind_.at(i));
      set_in_tree(node, false);
    } else {
      const uint32_t prev = node->prev, next = node->next;
      if (prev == kNoIndex) lane.set(&Lane::head, next);
      if (prev != kNoIndex) txn.set(kind_.at(prev).next, next);
      if (next == kNoIndex) lane.set(&Lane::tail, prev);
      if (next != kNoIndex) txn.set(kind_.at(next).prev, prev);
    }
    take_from(lane, &Lane::count, 1);
  }

  /// The head of the list, whose order has changed, goes to its end if that is its place now. False: it is
  /// not, and nothing was done.
  template <class Node>
  bool rotate(Txn& txn, const Opened<Lane>& lane, const Opened<Node>& node) const {
    const uint32_t i = lane->head, tail = lane->tail;
    if (i == tail) return false;
    auto& last = kind_.at(tail);
    if (kind_.less(*node, last)) return false;
    const uint32_t next = node->next;
    lane.set(&Lane::head, next);
    txn.set(kind_.at(next).prev, kNoIndex);
    txn.set(last.next, i);
    node.set(&Node::prev, tail);
    node.set(&Node::next, kNoIndex);
    lane.set(&Lane::tail, i);
    return true;
  }

  /// What i itself adds to sums has changed. Needs: i in the tree. At most log steps.
  void sum_changed(Txn& txn, const Lane& lane, uint32_t i) const {
    const Path path = way_to(lane, i, kind_.at(i));
    kind_.sum(txn, i);
    for (uint32_t length = path.length; length > 0; --length) kind_.sum(txn, path.steps[length - 1].index);
  }

  /// The first of the lane, kNoIndex when it is empty.
  uint32_t first(const Lane& lane) const {
    const uint32_t head = lane.head;
    if (lane.root == kNoIndex) return head;
    const uint32_t least = leftmost(lane.root);
    return head == kNoIndex || less(least, head) ? least : head;
  }

  static void clear(Txn& txn, Lane& lane) {
    put(txn, lane.head, kNoIndex);
    put(txn, lane.tail, kNoIndex);
    put(txn, lane.root, kNoIndex);
    put(txn, lane.count, 0);
  }

 private:
  using Element = std::remove_reference_t<decltype(std::declval<const Kind&>().at(0))>;

  // The way from the root down to where a change is; at each step whether it went left.
  struct Path {
    struct Step {
      uint32_t index;
      bool left;
      Element* node;
    } steps[kTreeHeightMax];
    uint32_t length = 0;
    void push(uint32_t index, Element& node, bool went_left) {
      if (length == kTreeHeightMax) region_damaged("a tree is too high");
      steps[length++] = {index, went_left, &node};
    }
  };

  // What a subtree hangs by, and how high it is.
  struct Top {
    uint32_t index;
    uint32_t height;
  };

  bool less(uint32_t a, uint32_t b) const { return kind_.less(kind_.at(a), kind_.at(b)); }

  template <class Node>
  void set_in_tree(const Opened<Node>& node, bool in_tree) const {
    const unsigned others = node->flags.get() & ~unsigned{Kind::kInTree};
    node.set(&Node::flags, static_cast<uint8_t>(in_tree ? others | Kind::kInTree : others));
  }

  uint32_t leftmost(uint32_t i) const {
    StepLimit limit(kTreeHeightMax);
    for (uint32_t left; (left = kind_.at(i).prev) != kNoIndex; i = left) limit.step();
    return i;
  }

  template <class Node>
  void insert_tree(Txn& txn, const Opened<Lane>& lane, uint32_t i, const Opened<Node>& node) const {
    const Path path = way_to(*lane, kNoIndex, *node);
    node.set(&Node::prev, kNoIndex);
    node.set(&Node::next, kNoIndex);
    node.set(&Node::height, 1);
    if constexpr (Kind::kSums) kind_.sum(txn, i);
    set_in_tree(node, true);
    attach(txn, lane, path, path.length, i);
    balance_up(txn, lane, path, 1, path.length);
  }

  // Down to i, which stands where `node` belongs, or to where there is nothing yet (kNoIndex).
  Path way_to(const Lane& lane, uint32_t i, const Element& node) const {
    Path path;
    uint32_t at = lane.root;
    while (at != i) {
      if (at == kNoIndex) region_damaged("an element is missing in its tree");
      Element& other = kind_.at(at);
      const bool left = kind_.less(node, other);
      path.push(at, other, left);
      at = left ? other.prev : other.next;
    }
    return path;
  }

  void remove_tree(Txn& txn, const Opened<Lane>& lane, uint32_t i, Element& node) const {
    Path path = way_to(*lane, i, node);
    const uint32_t place = path.length;
    uint32_t below = node.prev == kNoIndex ? node.next : node.prev;
    if (node.prev != kNoIndex && node.next != kNoIndex) {
      below = replace_by_successor(txn, lane, path, i, node);
    } else {
      attach(txn, lane, path, path.length, below);
    }
    balance_up(txn, lane, path, height(below), place);
  }

  // Puts the least element right of i into i's place, and leaves `path` leading to where it was taken: what
  // hangs there now is returned.
  uint32_t replace_by_successor(Txn& txn, const Opened<Lane>& lane, Path& path, uint32_t i,
                                Element& node) const {
    const uint32_t place = path.length;
    path.push(i, node, false);
    uint32_t next = node.next;
    Element* successor = &kind_.at(next);
    for (uint32_t left; (left = successor->prev) != kNoIndex; next = left, successor = &kind_.at(left)) {
      path.push(next, *successor, true);
    }
    const uint32_t below = successor->next;
    attach(txn, lane, path, path.length, below);
    put(txn, successor->prev, node.prev);
    put(txn, successor->next, node.next);  // read after attach, which may have changed it
    put(txn, successor->height, node.height);
    if constexpr (Kind::kSums) kind_.take_sum(txn, next, i);
    attach(txn, lane, path, place, next);
    path.steps[place] = {next, false, successor};
    return below;
  }

  // Makes `child` what hangs below the path's first `length` steps.
  void attach(Txn& txn, const Opened<Lane>& lane, const Path& path, uint32_t length, uint32_t child) const {
    if (length == 0) return lane.set(&Lane::root, child);
    const auto& above = path.steps[length - 1];
    put(txn, above.left ? above.node->prev : above.node->next, child);
  }

  // `below`: how high is now what hangs at the path's end. `changed`: how far down the path another element
  // stands than before; sums differ from there on.
  void balance_up(Txn& txn, const Opened<Lane>& lane, const Path& path, uint32_t below,
                  uint32_t changed) const {
    for (uint32_t length = path.length; length > 0; --length) {
      const auto& [i, is_left, node] = path.steps[length - 1];
      const uint32_t before = node->height;
      const uint32_t beside = height(is_left ? node->next : node->prev);
      const auto sum_before = sum_of(i);
      const Top top = balance(txn, i, *node, is_left ? below : beside, is_left ? beside : below);
      if (top.index != i) attach(txn, lane, path, length - 1, top.index);
      const bool same = top.height == before && sum_of(top.index) == sum_before;
      if (same && length <= changed + 1) return;  // nothing above it sees a difference
      below = top.height;
    }
  }

  auto sum_of(uint32_t i) const {
    if constexpr (Kind::kSums) {
      return kind_.sum_of(i);
    } else {
      return false;
    }
  }

  uint32_t height(uint32_t i) const { return i == kNoIndex ? 0 : kind_.at(i).height.get(); }

  // i, whose children are so high.
  Top stand(Txn& txn, uint32_t i, Element& node, uint32_t left, uint32_t right) const {
    const uint32_t height = 1 + std::max(left, right);
    put(txn, node.height, static_cast<uint8_t>(height));
    if constexpr (Kind::kSums) kind_.sum(txn, i);
    return {i, height};
  }

  // The same where they may differ by two. Returns what stands in the place of i afterwards.
  Top balance(Txn& txn, uint32_t i, Element& node, uint32_t left, uint32_t right) const {
    if (left > right + 1) {
      Element& child = kind_.at(node.prev);
      if (height(child.prev) < height(child.next)) {
        put(txn, node.prev, rotate_left(txn, node.prev, child).index);
      }
      return rotate_right(txn, i, node);
    }
    if (right > left + 1) {
      Element& child = kind_.at(node.next);
      if (height(child.next) < height(child.prev)) {
        put(txn, node.next, rotate_right(txn, node.next, child).index);
      }
      return rotate_left(txn, i, node);
    }
    return stand(txn, i, node, left, right);
  }

  Top rotate_left(Txn& txn, uint32_t i, Element& node) const {
    const uint32_t top = node.next;
    Element& up = kind_.at(top);
    put(txn, node.next, up.prev);
    put(txn, up.prev, i);
    const Top left = stand(txn, i, node, height(node.prev), height(node.next));
    return stand(txn, top, up, left.height, height(up.next));
  }

  Top rotate_right(Txn& txn, uint32_t i, Element& node) const {
    const uint32_t top = node.prev;
    Element& up = kind_.at(top);
    put(txn, node.prev, up.next);
    put(txn, up.next, i);
    const Top right = stand(txn, i, node, height(node.prev), height(node.next));
    return stand(txn, top, up, height(up.prev), right.height);
  }

  Kind kind_;
};

/// Walks a lane in order without changing it: for previews and checks. The lane must not change meanwhile.
template <class Kind>
class LaneWalk {
 public:
  LaneWalk(Kind kind, const Lane& lane) : kind_(kind), list_(lane.head), left_(lane.count) {
    // Where the links go round in a circle as well, the walk would not end.
    if (left_ > kind_.most()) region_damaged("a lane counts more than there can be");
    descend(lane.root);
  }

  /// The next element, kNoIndex after the last; peek() does not move on.
  uint32_t peek() const {
    if (depth_ == 0) return list_;
    const uint32_t least = stack_[depth_ - 1];
    return list_ == kNoIndex || kind_.less(kind_.at(least), kind_.at(list_)) ? least : list_;
  }
  uint32_t next() {
    const uint32_t i = peek();
    if (i == kNoIndex) return i;
    if (left_-- == 0) region_damaged("a lane holds more than it counts");
    if (depth_ > 0 && stack_[depth_ - 1] == i) {
      --depth_;
      descend(kind_.at(i).next);
    } else {
      list_ = kind_.at(i).next;
    }
    return i;
  }

 private:
  void descend(uint32_t i) {
    for (; i != kNoIndex; i = kind_.at(i).prev) {
      if (depth_ == kTreeHeightMax) region_damaged("a tree is too high");
      stack_[depth_++] = i;
    }
  }

  Kind kind_;
  uint32_t list_;
  uint32_t left_;
  uint32_t stack_[kTreeHeightMax];
  uint32_t depth_ = 0;
};

}  // namespace fq
