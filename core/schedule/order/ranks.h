// ranks - scope = "queue": the order of messages (priority or key) reaches across tenants.
//
// Each seat knows the message that goes first of all that are ready below it, and each element of a ring's
// tree which seat of its subtree has the one that goes first there (of equal ones the seat whose turn it is
// first). So the seat whose message goes first of all is known at the root of the tree, and equals take
// turns. Where the pools of some seats lack room, the subtrees are looked through that have something better
// than what was found so far.
//
// So that none starves, one of kTurnsByAge turns goes by age: to the seat that has waited longest for such a
// turn, at every level. With n tenants that have work, each has a turn at least once in kTurnsByAge * n. Turns
// are counted for each node that is asked for one: who takes those of one tenant uses up none of the others'.
//
// Ranks are kept while the scope asks for them. When it begins to, the places are given them by the walk over
// all nodes (terms.h); until that is done turns go as without. A place's values from an earlier time have
// another number than the root.
//
// Invariants
//  K1  A seat's `first` is a message of those ready below it that none of them goes before, whatever pools it
//      needs. Of equal ones it may be another than the one whose turn is next: when that changes alone, those
//      above are not told.
//  K2  `best` and `oldest` of a tree element are right for its subtree; while ranks are kept, all seats that
//      have theirs are in their ring's tree.
#pragma once

// System.
#include <algorithm>
// fq, this room.
#include "core/schedule/order/message_order.h"
#include "core/schedule/memory/terms.h"

namespace fq {

inline constexpr uint32_t kTurnsByAge = 16;  // chosen: a sixteenth of all turns ignores priority

class Ranks {
 public:
  explicit Ranks(const Region& region) : region_(region) {}

  bool are_kept() const { return is_ranked(region_.root); }
  /// Turns go by them now.
  bool rule() const { return are_kept() && nodes_behind(region_.root) == kNoIndex; }
  /// Turns by rank that `from` was asked for since its last one by age.
  uint32_t turns_of(uint32_t from) const { return is_known(from) ? region_.place(from).turn_count.get() : 0; }
  bool is_turn_by_age(uint32_t turns) const {
    return region_.root.terms.ages != 0 && turns + 1 >= kTurnsByAge;
  }
  uint32_t turns_after(uint32_t turns) const {
    return is_turn_by_age(turns) ? 0 : std::min(turns + 1, kTurnsByAge - 1);
  }
  void count_turn(Txn& txn, uint32_t from) const {
    put(txn, region_.place(from).turn_count, turns_after(turns_of(from)));
    put(txn, region_.place(from).ranks, region_.root.terms.ranks.get());  // the root never waits
  }

  bool is_known(uint32_t tenant) const {
    return tenant != kNoIndex && region_.place(tenant).ranks == region_.root.terms.ranks;
  }
  /// Whether message `x` goes before `y`, another one is equal. Slots, or kNoIndex, which comes last.
  bool goes_before(uint32_t x, uint32_t y) const {
    if (x == kNoIndex || y == kNoIndex) return x != kNoIndex;
    return MessageKind{&region_}.compare_rank(region_.entry(x), region_.entry(y)) < 0;
  }
  /// Of two seats (or kNoIndex) the one whose message goes first; the left one of equals.
  uint32_t better(uint32_t left, uint32_t right) const {
    if (left == kNoIndex || right == kNoIndex) return left == kNoIndex ? right : left;
    return goes_before(region_.place(right).first, region_.place(left).first) ? right : left;
  }
  uint32_t older(uint32_t left, uint32_t right) const {
    if (left == kNoIndex || right == kNoIndex) return left == kNoIndex ? right : left;
    return region_.place(right).stamp < region_.place(left).stamp ? right : left;
  }
  /// It has something to serve again, and had nothing.
  void begin(Txn& txn, uint32_t tenant) const {
    put(txn, region_.place(tenant).turn_count, 0);
    stamp(txn, tenant);
  }
  /// It waits for a turn by age from now on.
  void stamp(Txn& txn, uint32_t tenant) const {
    Shared<uint64_t>& stamps = region_.root.terms.stamps;
    Place& place = region_.place(tenant);
    put(txn, place.ranks, region_.root.terms.ranks.get());
    put(txn, place.stamp, stamps.get());
    txn.set(stamps, stamps + 1);
  }

 private:
  const Region& region_;
};

}  // namespace fq
