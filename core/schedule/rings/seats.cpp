// seats - see seats.h.
#include "core/schedule/rings/seats.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/schedule/rings/control.h"

namespace fq {
namespace {

constexpr uint64_t kCostPerMs = kCostPerTick * kTicksPerMs;
constexpr int64_t kForgivenMaxMs = int64_t{1} << 36;  // 2 years; what they cost fits 64 bits

/// How many ticks move the tag of a node of that weight by no more than this.
uint64_t ticks_within(uint32_t weight_milli, uint64_t turn) {
  return turn / kCostPerTick * weight_milli + turn % kCostPerTick * weight_milli / kCostPerTick;
}

/// Of a tag that was charged for a run: `took` instead of `expected` ticks; what was too much is taken back
/// as far as it still stands.
class Correction {
 public:
  Correction(uint32_t weight_milli, uint64_t expected, uint64_t took, uint64_t stands) {
    const uint64_t charged = turn_of_ticks(weight_milli, expected), used = turn_of_ticks(weight_milli, took);
    more_ = used - std::min(used, charged);
    less_ = std::min(charged - std::min(used, charged), turn_of_ticks(weight_milli, stands));
  }
  bool is_none() const { return more_ == less_; }
  uint64_t of(uint64_t tag) const { return tag + more_ - std::min(tag + more_, less_); }

 private:
  uint64_t more_, less_;  // one of them is 0
};

/// What a search knows of a seat, but for what lies below it in the tree.
void copy_place(Txn& txn, Place& to, const Place& from) {
  put(txn, to.sets, from.sets.get());
  put(txn, to.stamp, from.stamp.get());
  put(txn, to.ranks, from.ranks.get());
  put(txn, to.first, from.first.get());
  put(txn, to.turn_count, from.turn_count.get());
  put(txn, to.refund, from.refund.get());
}

}  // namespace

SeatSum SeatKind::sum_at(uint32_t i) const {
  const Tenant& tenant = at(i);
  const SeatSum left = sum_of(tenant.prev), right = sum_of(tenant.next);
  SeatSum sum{.sets = left.sets | sets(i) | right.sets};
  const Ranks ranks(*region);
  if (!ranks.are_kept()) return sum;
  const uint32_t own = ranks.is_known(i) ? i : kNoIndex;
  sum.best = ranks.better(ranks.better(left.best, own), right.best);
  sum.oldest = ranks.older(ranks.older(left.oldest, own), right.oldest);
  return sum;
}

void SeatKind::put_sum(Txn& txn, uint32_t i, const SeatSum& sum) const {
  Place& place = region->place(i);
  put(txn, place.below, sum.sets ^ kNoPool);
  if (!is_ranked(region->root)) return;
  put(txn, place.sums, region->root.terms.ranks.get());
  put(txn, place.best, sum.best);
  put(txn, place.oldest, sum.oldest);
}

// As its parent sees it, a member needs its pool too.
uint64_t Seats::sets_below(uint32_t i) const {
  const Tenant& tenant = region_.tenant(i);
  if (!is_inner(tenant)) return tenant.lane.count == 0 ? 0 : kNoPool;
  const SeatKind kind{&region_};
  return (tenant.lane.head == kNoIndex ? 0 : kNoPool) | kind.sum_of(tenant.lane).sets;
}

uint64_t Seats::sets_of(uint32_t i) const {
  const uint32_t pool = pool_of(region_, region_.tenant(i));
  return pool == kNoIndex ? sets_below(i) : PoolSets(region_).known_with(sets_below(i), pool);
}

uint64_t Seats::make_sets(Txn& txn, uint32_t i) const {
  const uint32_t pool = pool_of(region_, region_.tenant(i));
  return pool == kNoIndex ? sets_below(i) : PoolSets(region_).with(txn, sets_below(i), pool);
}

uint32_t Seats::first_of(uint32_t i) const {
  const Tenant& tenant = region_.tenant(i);
  if (!is_inner(tenant)) return MessageLane(MessageKind{&region_}).first(tenant.lane);
  const uint32_t best = SeatKind{&region_}.sum_of(tenant.lane).best;
  return best == kNoIndex ? kNoIndex : region_.place(best).first.get();
}

/// It waits from now on. Needs: it is in no ring now.
void Seats::begin(Txn& txn, uint32_t i) const {
  const Ranks ranks(region_);
  if (ranks.are_kept()) ranks.begin(txn, i);
}

/// What a search is to know of a seat. Needs: it is in no ring now.
void Seats::note_ready(Txn& txn, uint32_t i, uint64_t sets) const {
  if (region_.root.places_used == 0) return;
  Place& place = region_.place(i);
  put(txn, place.sets, sets ^ kNoPool);
  const Ranks ranks(region_);
  if (!ranks.are_kept()) return;
  if (!ranks.is_known(i)) ranks.begin(txn, i);
  put(txn, place.first, first_of(i));
}

bool Seats::is_as_noted(uint32_t i, uint64_t sets) const {
  if (sets != SeatKind{&region_}.sets(i)) return false;
  const Ranks ranks(region_);
  if (!ranks.are_kept()) return true;
  const bool in_tree = (region_.tenant(i).flags & kTenantInTree) != 0;
  return in_tree && ranks.is_known(i) && region_.place(i).first == first_of(i);
}

void Seats::forget_rank(Txn& txn, uint32_t i) const {
  Tenant& tenant = region_.tenant(i);
  if (i == kRoot || !is_seated(tenant)) return;
  if (tenant.tag < region_.tenant(tenant.parent).vtime) set_flag(txn, tenant, kTenantLate, true);
}

/// It may be that its turn was passed over.
bool Seats::is_late(uint32_t i) const {
  const Tenant& tenant = region_.tenant(i);
  return (tenant.flags & kTenantLate) != 0 || SeatKind{&region_}.sets(i) != kNoPool ||
         is_ranked(region_.root);
}

/// In its parent's virtual time.
uint64_t Seats::begin_of_turn(uint32_t i) const {
  const Tenant& tenant = region_.tenant(i);
  if (!is_late(i)) return tenant.tag;
  // By rank nobody makes up anything.
  const bool has_refund = region_.root.places_used != 0 && !is_ranked(region_.root);
  const uint64_t refund = has_refund ? region_.place(i).refund.get() : 0;
  return begin_of_late(region_.tenant(tenant.parent).vtime, tenant.tag, refund);
}

/// Its next turn may begin so early.
void Seats::note_refund(Txn& txn, uint32_t i, uint64_t begin) const {
  if (region_.root.places_used == 0) return;
  const uint64_t vtime = region_.tenant(region_.tenant(i).parent).vtime;
  put(txn, region_.place(i).refund, refund_left(vtime, begin));
}

/// How far beyond `level` its tag is: what it has used ahead of its share. While a node has nothing to do,
/// time takes that off at the node's weight, as if others had their turns.
uint64_t Seats::owed(const Tenant& tenant, uint64_t level, int64_t now_ms) const {
  if (tenant.tag <= level) return 0;
  // Asked when something comes: before that nothing of it ran, or could be served.
  const bool idle = tenant.counts.leased == 0;
  const int64_t idle_ms =
      idle ? std::clamp<int64_t>(time_between(tenant.used_ms, now_ms), 0, kForgivenMaxMs) : 0;
  const uint64_t forgiven = turn_of(tenant.weight_milli, static_cast<uint64_t>(idle_ms) * kCostPerMs);
  const uint64_t owed = tenant.tag - level;
  return owed <= forgiven ? 0 : owed - forgiven;
}

bool Seats::owes(const Tenant& tenant, int64_t now_ms) const {
  return owed(tenant, region_.tenant(tenant.parent).vtime, now_ms) != 0;
}

void Seats::rerank(Txn& txn, uint32_t leaf, uint32_t slot) const {
  const Ranks ranks(region_);
  StepLimit limit(kDepthMax);
  // What is noted of it is of before: who finds it so would look no further.
  for (uint32_t i = leaf; i != kRoot; i = region_.tenant(i).parent) {
    limit.step();
    if (ranks.is_known(i) && region_.place(i).first == slot) put(txn, region_.place(i).first, kNoIndex);
  }
  reseat(txn, leaf);
}

void Seats::reseat(Txn& txn, uint32_t i, const Arrival* arrival) const {
  const SeatKind kind{&region_};
  StepLimit limit(kDepthMax);
  while (i != kRoot) {
    limit.step();
    Tenant& tenant = region_.tenant(i);
    const bool wanted = can_be_served(tenant);
    const bool seated = is_seated(tenant);
    Tenant& parent = region_.tenant(tenant.parent);
    if (!is_inner(parent)) throw RegionDamaged{"a parent is no inner node"};
    // Also of one that is blocked: its place in line is that of its first message, or of its group.
    const bool comes =
        arrival != nullptr && !seated && (tenant.lane.count == 1 || (arrival->group && !is_inner(tenant)));
    if (comes) {
      const uint64_t level = parent.vtime + turn_of(tenant.weight_milli, arrival->cost);
      const uint64_t ahead = owed(tenant, level, arrival->now_ms);
      put(txn, tenant.tag, level + ahead);
      let_stand(txn, tenant, ahead);
      begin(txn, i);
    }
    if (!wanted && !seated) return;
    const uint64_t sets = wanted && kind.has_places() ? make_sets(txn, i) : kNoPool;
    if (wanted && seated && is_as_noted(i, sets)) return;
    const Opened<Tenant> seat = region_.open(txn, tenant), ring = region_.open_ring(txn, parent);
    const Opened<Lane> lane = ring.part(&Tenant::lane);
    if (seated) ring_.remove(txn, lane, i, seat);
    if (wanted && !seated) {
      seat.set(&Tenant::tag, std::max<uint64_t>(parent.vtime, tenant.tag));
      let_stand(txn, tenant, tenant.tag - parent.vtime);
      seat.set(&Tenant::sequence, take_sequence(ring));
    }
    const bool late = seated && is_late(i);
    set_flag_of(seat, kTenantLate, late);
    if (!late) note_refund(txn, i, seat->tag);
    // A node that stays and only needs other pools than before is not new for those above.
    if (seated) arrival = nullptr;
    if (wanted) note_ready(txn, i, sets);
    if (wanted) ring_.insert(txn, lane, i, seat);
    set_flag_of(seat, kTenantSeated, wanted);
    i = tenant.parent;
  }
}

void Seats::block(Txn& txn, uint32_t i, uint8_t reason, bool on, const Arrival* arrival) const {
  Tenant& tenant = region_.tenant(i);
  const uint8_t before = tenant.blocks;
  const auto after = static_cast<uint8_t>(on ? before | reason : before & ~unsigned{reason});
  if (after == before) return;
  put(txn, tenant.blocks, after);
  if (reason == kBlockPaused)
    put(txn, region_.root.paused_count, region_.root.paused_count + (on ? 1u : -1u));
  const bool changes = (before == 0) != (after == 0);
  if (changes) put(txn, region_.root.parked_count, region_.root.parked_count + (on ? 1u : -1u));
  if (changes || arrival != nullptr) reseat(txn, i, arrival);
}

void Seats::charge(Txn& txn, uint32_t parent_index, uint32_t i, uint64_t cost, Turn turn) const {
  const Opened<Tenant> parent = region_.open_ring(txn, region_.tenant(parent_index));
  const Opened<Tenant> seat = region_.open(txn, region_.tenant(i));
  const Opened<Lane> lane = parent.part(&Tenant::lane);
  const SeatKind kind{&region_};
  const bool stays = can_be_served(*seat);
  const uint64_t sets = stays && kind.has_places() ? make_sets(txn, i) : kNoPool;
  const Ranks ranks(region_);
  const bool rotates = stays && lane->head == i && sets == kNoPool && !ranks.are_kept();
  const uint64_t begin = begin_of_turn(i), turn_cost = turn_of(seat->weight_milli, cost);
  if (!rotates) ring_.remove(txn, lane, i, seat);
  const bool its_turn = turn != Turn::beside;
  if (its_turn && begin != seat->tag) let_stand(txn, region_.tenant(i), 0);
  if (its_turn) parent.set(&Tenant::vtime, clock_after(*parent, *seat));
  seat.set(&Tenant::tag, (its_turn ? begin : seat->tag.get()) + turn_cost);
  note_refund(txn, i, begin + turn_cost);
  set_flag_of(seat, kTenantLate, false);
  if (!stays) return set_flag_of(seat, kTenantSeated, false);
  seat.set(&Tenant::sequence, take_sequence(parent));
  if (rotates && ring_.rotate(txn, lane, seat)) return;
  if (rotates) ring_.remove(txn, lane, i, seat);
  if (turn == Turn::by_age) ranks.stamp(txn, i);
  note_ready(txn, i, sets);
  ring_.insert(txn, lane, i, seat);
}

Opened<Lane> Seats::ring_of(Txn& txn, const Tenant& tenant) const {
  return region_.open_ring(txn, region_.tenant(tenant.parent)).part(&Tenant::lane);
}

void Seats::sit_down(Txn& txn, uint32_t i) const {
  const Opened<Tenant> seat = region_.open(txn, region_.tenant(i));
  note_ready(txn, i, SeatKind{&region_}.has_places() ? make_sets(txn, i) : kNoPool);
  ring_.insert(txn, ring_of(txn, *seat), i, seat);
  set_flag_of(seat, kTenantSeated, true);
}

void Seats::replace(Txn& txn, uint32_t i, uint32_t with) const {
  Tenant& tenant = region_.tenant(i);
  Tenant& other = region_.tenant(with);
  put(txn, other.tag, tenant.tag.get());
  put(txn, other.sequence, tenant.sequence.get());
  put(txn, expected_ticks(other), expected_ticks(tenant).get());
  if (region_.root.places_used != 0) copy_place(txn, region_.place(with), region_.place(i));
  if (!is_seated(tenant)) return;
  const Opened<Lane> lane = ring_of(txn, tenant);
  ring_.remove(txn, lane, i, region_.open(txn, tenant));
  set_flag(txn, tenant, kTenantSeated, false);
  ring_.insert(txn, lane, with, region_.open(txn, other));
  set_flag(txn, other, kTenantSeated, true);
}

void Seats::set_weight(Txn& txn, uint32_t i, uint32_t weight_milli) const {
  Tenant& tenant = region_.tenant(i);
  const uint32_t before = tenant.weight_milli;
  put(txn, tenant.weight_milli, weight_milli);
  if (i == kRoot) return;
  const uint64_t vtime = region_.tenant(tenant.parent).vtime;
  if (tenant.tag <= vtime) return;
  uint64_t tag = 0;
  if (region_.root.terms.fair_by == FairBy::turns) {
    // A light tenant that becomes heavy must not sit out a turn of its old length.
    tag = std::min<uint64_t>(tenant.tag, vtime + turn_of(weight_milli));
  } else {
    // What it has used it owes, at its new weight.
    const uint64_t ahead = tenant.tag - vtime;
    tag = vtime + ahead / weight_milli * before + ahead % weight_milli * before / weight_milli;
  }
  if (tag != tenant.tag) move(txn, i, tag, true);
}

void Seats::even_out(Txn& txn, uint32_t i) const {
  if (i == kRoot) return;
  Tenant& tenant = region_.tenant(i);
  const Tenant& parent = region_.tenant(tenant.parent);
  const uint64_t latest = parent.vtime + turn_of(tenant.weight_milli);
  const uint64_t tag = std::clamp<uint64_t>(tenant.tag, parent.vtime, latest);
  put(txn, expected_ticks(tenant), 0);
  note_refund(txn, i, tag);
  if (tag != tenant.tag) move(txn, i, tag, false);
}

void Seats::expect(Txn& txn, uint32_t i, uint64_t ticks) const {
  add_to(txn, expected_ticks(region_.tenant(i)), ticks);
}

void Seats::let_stand(Txn& txn, Tenant& tenant, uint64_t ahead) const {
  Shared<uint64_t>& ticks = expected_ticks(tenant);
  if (ticks == 0 || turn_of_ticks(tenant.weight_milli, ticks) <= ahead) return;
  put(txn, ticks, ticks_within(tenant.weight_milli, ahead));
}

void Seats::correct(Txn& txn, uint32_t i, uint64_t expected, uint64_t took) const {
  Tenant& tenant = region_.tenant(i);
  Shared<uint64_t>& ticks = expected_ticks(tenant);
  const uint64_t stands = std::min<uint64_t>(ticks, expected);
  put(txn, ticks, ticks - stands);
  const Correction correction(tenant.weight_milli, expected, took, stands);
  if (correction.is_none()) return;
  const uint64_t begin = begin_of_turn(i);
  // Who was passed over has been made level by that, whatever it was charged before.
  if (begin == tenant.tag) note_refund(txn, i, correction.of(begin));
  move(txn, i, correction.of(tenant.tag), false);
}

void Seats::move(Txn& txn, uint32_t i, uint64_t tag, bool behind_equals) const {
  const Opened<Tenant> seat = region_.open(txn, region_.tenant(i));
  const Opened<Tenant> parent = region_.open_ring(txn, region_.tenant(seat->parent));
  const Opened<Lane> lane = parent.part(&Tenant::lane);
  if (is_seated(*seat)) ring_.remove(txn, lane, i, seat);
  seat.set(&Tenant::tag, tag);
  if (!is_seated(*seat)) return;
  if (behind_equals) seat.set(&Tenant::sequence, take_sequence(parent));
  ring_.insert(txn, lane, i, seat);
}

}  // namespace fq
