// seats - the order of turns below a node: weighted round robin by virtual time.
//
// A child that can be served has a seat in its parent's ring, ordered by its tag, among equal tags by
// arrival. Serving the first seat sets the parent's virtual time to its tag, and its next tag is one turn
// later: kTurn / weight. A newcomer's tag is one turn of its own after the virtual time, but never before the
// tag it left with. A node that was blocked while it had something keeps the tag that it had, but the turns
// that it missed are not made up: its tag is never before the virtual time. So:
//  - with equal weights this is exactly A B C A B C, and each turn is O(1): a seat leaves the list's head
//    and joins its tail;
//  - a child that was idle has saved up nothing, one that leaves and comes back has gained nothing;
//  - a newcomer of the same weight is served after every child that waits has had one turn;
//  - between two turns of a child that always has work, another gets at most ceil(its weight / mine)
//    turns, exactly one with equal weights. A turn's length is rounded down (see kTurn), so for weights that
//    do not divide it the heavier may count for up to 1 in 2500 more.
// A node in a pool that lacks room keeps its seat and is passed over; when it is served at last, with a tag
// in the past, that counts as a turn now, but for what it was charged too much (see below). This takes the
// place of deficit round robin: the same shares, but a heavy tenant's turns are spread over the round instead
// of coming in one burst.
//
// With fair_by time a start is charged what it is expected to take, and its end corrects that (see costs.h).
// The virtual time goes on by what was used, and not by what is only expected: a tag is taken back, the
// virtual time never, and who comes meanwhile would wait until all of that is used after all. So a tag may
// lie in the past by what was taken back, which is made up, and in a pool that lacked room by turns that were
// missed, which are not: of a seat that may be late Place::refund tells how much is the former.
// A tag that was behind and has been made level (of who comes again, or could not be served for a while) owes
// nothing for runs that are under way, and so gets nothing back for them: expected_ticks is what of their
// charge still stands in the tag.
//
// A seat is taken and left at the change that makes the difference (the first message, the last one, park,
// unpark), never found by a scan. See T1 in tenant.h.
#pragma once

// System.
#include <algorithm>
// fq, this room.
#include "core/schedule/memory/lane.h"
#include "core/schedule/rings/pool_sets.h"
#include "core/schedule/order/ranks.h"

namespace fq {

// Over a weight in thousandths: exact for the whole weights up to 10, for 12, 14 to 16, 18, 20, 25, 100, 1000
// and the like; others are off by less than 1 in 2500. Not larger: a queue that serves nothing but a tenant
// of weight 0.1, 100,000 a second, comes to the end of 64 bits in 85 days.
inline constexpr uint64_t kTurn = 2'520'000'000;

/// The sum over a subtree that guides a search in a ring's tree: see pool.h and ranks.h.
struct SeatSum {
  uint64_t sets = 0;
  uint32_t best = kNoIndex;
  uint32_t oldest = kNoIndex;
  bool operator==(const SeatSum&) const = default;
};

struct SeatKind {
  static constexpr uint8_t kInTree = kTenantInTree;
  static constexpr bool kSums = true;
  const Region* region;

  Tenant& at(uint32_t i) const { return region->tenant(i); }
  uint32_t most() const { return region->root.tenants.capacity; }
  bool has_places() const { return region->root.places_used != 0; }
  /// The sets of pools that the messages ready below this seat need.
  uint64_t sets(uint32_t i) const { return has_places() ? region->place(i).sets ^ kNoPool : kNoPool; }
  /// Only a seat that needs no pool: so the first of the list can always be served. By rank none: a search
  /// needs sums.
  bool may_list(uint32_t i, const Tenant&) const { return sets(i) == kNoPool && !is_ranked(region->root); }

  SeatSum sum_of(uint32_t i) const {
    if (i == kNoIndex) return {};
    if (!has_places()) return {.sets = kNoPool};
    const Place& place = region->place(i);
    const bool ranked = is_ranked(region->root) && place.sums == region->root.terms.ranks;
    if (!ranked) return {.sets = place.below ^ kNoPool};
    return {place.below ^ kNoPool, place.best, place.oldest};
  }
  /// Of all its seats that are in its tree.
  SeatSum sum_of(const Lane& lane) const { return sum_of(lane.root.get()); }
  SeatSum sum_at(uint32_t i) const;
  void sum(Txn& txn, uint32_t i) const {
    if (has_places()) put_sum(txn, i, sum_at(i));
  }
  void take_sum(Txn& txn, uint32_t to, uint32_t from) const {
    if (has_places()) put_sum(txn, to, sum_of(from));
  }
  void put_sum(Txn& txn, uint32_t i, const SeatSum& sum) const;

  static bool less(const Tenant& x, const Tenant& y) {
    return x.tag != y.tag ? x.tag < y.tag : x.sequence < y.sequence;
  }
};
using Ring = LaneOps<SeatKind>;

/// A run of the scheduler's clock, in ticks of 10 us; 10 ms are a turn.
inline constexpr uint32_t kTicksPerMs = 100;
inline constexpr uint64_t kCostPerTick = kTurn / (10 * kTicksPerMs);

/// How far a turn of this cost (see costs.h) moves the tag of a node of that weight.
constexpr uint64_t turn_of(uint32_t weight_milli, uint64_t cost = kTurn) {
  return weight_milli == 0 ? cost : cost / weight_milli;
}
/// The same of so many ticks, which may cost more than 64 bits hold.
constexpr uint64_t turn_of_ticks(uint32_t weight_milli, uint64_t ticks) {
  const uint64_t weight = std::max<uint64_t>(1, weight_milli);
  return ticks / weight * kCostPerTick + ticks % weight * kCostPerTick / weight;
}
/// What the clock shows once a seat of this tag is served. What its runs will cost that have not ended is
/// only expected, and may be taken back: whoever comes meanwhile would wait until all of that is used after
/// all.
constexpr uint64_t clock_after(uint64_t vtime, uint64_t tag, uint32_t weight_milli, uint64_t expected_ticks) {
  const uint64_t expected = expected_ticks == 0 ? 0 : turn_of_ticks(weight_milli, expected_ticks);
  return std::max(vtime, tag - std::min(tag, expected));
}

inline bool is_inner(const Tenant& tenant) { return (tenant.flags & kTenantInner) != 0; }
inline bool is_parked(const Tenant& tenant) { return tenant.blocks != 0; }
inline bool is_seated(const Tenant& tenant) { return (tenant.flags & kTenantSeated) != 0; }
inline bool is_used(const Tenant& tenant) { return (tenant.flags & kTenantUsed) != 0; }
inline bool can_be_served(const Tenant& tenant) { return !is_parked(tenant) && tenant.lane.count != 0; }

inline bool is_gathering(const Tenant& leaf) { return (leaf.blocks & kBlockGather) != 0; }
/// Of what there is something, unless a limit is in the way.
inline bool has_something(const Tenant& tenant) { return tenant.lane.count != 0 && !is_gathering(tenant); }

inline void set_flag(Txn& txn, Tenant& tenant, uint8_t flag, bool on) {
  const unsigned others = tenant.flags.get() & ~unsigned{flag};
  put(txn, tenant.flags, static_cast<uint8_t>(on ? others | flag : others));
}

inline void set_flag_of(const Opened<Tenant>& tenant, uint8_t flag, bool on) {
  const unsigned others = tenant->flags.get() & ~unsigned{flag};
  tenant.set(&Tenant::flags, static_cast<uint8_t>(on ? others | flag : others));
}

/// For one that joins this ring.
inline uint64_t take_sequence(const Opened<Tenant>& ring) {
  const uint64_t sequence = ring->joins;
  ring.set(&Tenant::joins, sequence + 1);
  return sequence;
}

/// Where the turn of a seat begins that was passed over: it makes up nothing but its refund.
constexpr uint64_t begin_of_late(uint64_t vtime, uint64_t tag, uint64_t refund) {
  return std::max(tag, vtime - std::min(vtime, refund));
}
/// What is left of the refund where the next turn may begin so early.
constexpr uint64_t refund_left(uint64_t vtime, uint64_t begin) { return vtime - std::min(vtime, begin); }

inline uint64_t clock_after(const Tenant& ring, const Tenant& seat) {
  return clock_after(ring.vtime, seat.tag, seat.weight_milli, expected_ticks(seat));
}

class Seats {
 public:
  explicit Seats(const Region& region) : region_(region), ring_(SeatKind{&region}) {}

  /// After something changed in `tenant`: gives it its seat or takes it away, and so on up the tree as far
  /// as that makes a difference. At most one step a level.
  void reseat(Txn& txn, uint32_t tenant) const { reseat(txn, tenant, nullptr); }
  /// The same after a message of `leaf` got another rank, which may go first where it did before, or not.
  void rerank(Txn& txn, uint32_t leaf, uint32_t slot) const;
  /// The first message where there was none; its start will cost this.
  struct Arrival {
    uint64_t cost;
    int64_t now_ms;
    bool group = false;  // that has gathered: it counts as having come only now
  };
  /// The same where it has something again.
  void arrive(Txn& txn, uint32_t leaf, const Arrival& arrival) const { reseat(txn, leaf, &arrival); }
  /// Blocks a node for this reason, or no more.
  void block(Txn& txn, uint32_t tenant, uint8_t reason, bool on, const Arrival* arrival = nullptr) const;
  /// The seat whose turn it is has had it: moves on to its next place, or away when it has nothing more.
  /// Seats before it that were passed over, since their pool lacks room, stay as they are. Needs: its own
  /// lane is as it will be. One step.
  enum class Turn {
    own,
    by_age,  // see ranks.h
    beside,  // it had something beside its turn, as a group has
  };
  void charge(Txn& txn, uint32_t parent, uint32_t seat, uint64_t cost, Turn turn) const;
  /// Of what it was charged so many ticks are only expected.
  void expect(Txn& txn, uint32_t tenant, uint64_t ticks) const;
  /// A start that was charged what `expected` ticks cost has taken `took`.
  void correct(Txn& txn, uint32_t tenant, uint64_t expected, uint64_t took) const;
  /// Whether it is still ahead, by turns that it took before it was idle.
  bool owes(const Tenant& tenant, int64_t now_ms) const;
  /// The child whose turn it is, or kNoIndex.
  uint32_t first(const Tenant& inner) const { return ring_.first(inner.lane); }
  /// Its seat in its parent's ring, at the tag that it has. Needs: it is in no ring, and can be served.
  void sit_down(Txn& txn, uint32_t tenant) const;
  /// Puts `with` into the seat of `tenant`. Needs: `with` is in no ring.
  void replace(Txn& txn, uint32_t tenant, uint32_t with) const;
  void set_weight(Txn& txn, uint32_t tenant, uint32_t weight_milli) const;
  /// Turns cost something else from now on: a node is ahead by one turn of its own at most.
  void even_out(Txn& txn, uint32_t tenant) const;
  /// The sets of pools that the messages ready below a node need, blocked or not, as seen from its parent.
  /// For a set that is not there yet: kSomePools.
  uint64_t sets_of(uint32_t tenant) const;
  /// The message that goes first of those ready below it, as far as that is known.
  uint32_t first_of(uint32_t tenant) const;
  /// The scope is the tenant again: a node that was passed over makes up nothing.
  void forget_rank(Txn& txn, uint32_t tenant) const;

 private:
  void reseat(Txn& txn, uint32_t tenant, const Arrival* arrival) const;
  Opened<Lane> ring_of(Txn& txn, const Tenant& tenant) const;
  uint64_t owed(const Tenant& tenant, uint64_t level, int64_t now_ms) const;
  /// Its tag has been made level, or so far ahead of that: of what is only expected of runs under way no more
  /// than that can be taken back.
  void let_stand(Txn& txn, Tenant& tenant, uint64_t ahead) const;
  void move(Txn& txn, uint32_t tenant, uint64_t tag, bool behind_equals) const;
  uint64_t begin_of_turn(uint32_t tenant) const;
  void note_refund(Txn& txn, uint32_t tenant, uint64_t begin) const;
  bool is_late(uint32_t tenant) const;
  uint64_t sets_below(uint32_t tenant) const;
  uint64_t make_sets(Txn& txn, uint32_t tenant) const;
  void begin(Txn& txn, uint32_t tenant) const;
  void note_ready(Txn& txn, uint32_t tenant, uint64_t sets) const;
  bool is_as_noted(uint32_t tenant, uint64_t sets) const;

  const Region& region_;
  Ring ring_;
};

}  // namespace fq
