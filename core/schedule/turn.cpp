// turn - whose turn it is, from a node down to a message: by tags, by rank or by age.
#include "core/schedule/schedule.h"

// fq, this room.
#include "core/schedule/rings/costs.h"
#include "core/schedule/rings/open_seats.h"
#include "core/schedule/rings/ranked_seats.h"
#include "core/schedule/state.h"

namespace fq {

/// The way from a node down to the message whose turn is next.
struct Schedule::Turn {
  uint32_t path[kDepthMax + 1];
  uint32_t depth = 0;
  uint32_t slot = kNoIndex;  // none: nothing can be served
};

/// Goes on from the node where the turn has come to; false: there is nothing that can be served.
bool Schedule::find_below(Turn& turn) const {
  const uint32_t node = turn.path[turn.depth];
  const Tenant& tenant = region_.tenant(node);
  if (!is_inner(tenant)) {
    turn.slot = MessageLane(MessageKind{&region_}).first(tenant.lane);
    return turn.slot != kNoIndex;
  }
  if (turn.depth == kDepthMax) throw RegionDamaged{"the tenant tree is too deep"};
  ++turn.depth;
  if (region_.root.places_used == 0) {
    // Nobody is passed over: the first it is, as in each queue without pools and with the usual scope.
    turn.path[turn.depth] = Seats(region_).first(tenant);
    return turn.path[turn.depth] != kNoIndex && find_below(turn);
  }
  const Ranks ranks(region_);
  if (ranks.rule()) {
    turn.path[turn.depth] = RankedSeats(region_, ranks.is_turn_by_age()).first(tenant).tenant;
    if (turn.path[turn.depth] != kNoIndex && find_below(turn)) return true;
    --turn.depth;
    return false;
  }
  OpenSeats seats(SeatKind{&region_}, tenant.lane);
  for (uint32_t child; (child = seats.next()) != kNoIndex;) {
    turn.path[turn.depth] = child;
    if (find_below(turn)) return true;
  }
  --turn.depth;
  return false;
}

Schedule::Turn Schedule::next_turn(TenantIndex from) const {
  Turn turn;
  turn.path[0] = static_cast<uint32_t>(from);
  if (TenantTree(region_).is_blocked(turn.path[0]) || !find_below(turn)) return turn;
  const Entry& entry = region_.entry(turn.slot);
  if (entry.tenant != turn.path[turn.depth] || state_of(entry) != SlotState::ready) {
    throw RegionDamaged{"a message lies in a lane that is not its own"};
  }
  // When this one starts its neighbour comes first, and is written to.
  if (entry.next < region_.root.entries.capacity) fetch_ahead(region_.entry(entry.next));
  return turn;
}

std::optional<SlotIndex> Schedule::next(TenantIndex from) const {
  const Turn turn = next_turn(from);
  if (turn.slot == kNoIndex) return std::nullopt;
  return SlotIndex{turn.slot};
}

std::optional<SlotIndex> Schedule::lease_next(Txn& txn, TenantIndex from, const LeaseTerms& terms) {
  const Turn turn = next_turn(from);
  const uint32_t slot = turn.slot;
  if (slot == kNoIndex || fq::expires_ms(region_, region_.entry(slot)) <= terms.now_ms) return std::nullopt;
  const Seats seats(region_);
  const Message message = region_.message(slot);
  const uint32_t leaf = message.entry.tenant;
  const Cost cost = Costs(region_).of(message.entry);
  start(txn, message, terms);
  const Ranks ranks(region_);
  const auto kind = ranks.rule() && ranks.is_turn_by_age() ? Seats::Turn::by_age : Seats::Turn::own;
  for (uint32_t depth = turn.depth; depth > 0; --depth) {
    seats.charge(txn, turn.path[depth - 1], turn.path[depth], cost.turns, kind);
  }
  if (ranks.rule()) ranks.count_turn(txn);
  Costs::note_start(txn, message.entry, cost, region_.tenant(turn.path[0]).level);
  seats.settle(txn, static_cast<uint32_t>(from));
  Limits(region_).started(txn, leaf, terms.now_ms);
  return SlotIndex{slot};
}

}  // namespace fq
