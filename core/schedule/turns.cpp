// turns - see turns.h.
#include "core/schedule/turns.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/schedule/rings/blockers.h"
#include "core/schedule/rings/costs.h"
#include "core/schedule/rings/open_seats.h"
#include "core/schedule/rings/ranked_seats.h"
#include "core/schedule/states/state.h"

namespace fq {

/// The way from a node down to the message whose turn is next.
struct Turns::Way {
  uint32_t path[kDepthMax + 1];
  uint32_t depth = 0;
  uint32_t slot = kNoIndex;  // none: nothing can be served
};

/// Goes on from the node where the turn has come to; false: there is nothing that can be served.
bool Turns::find_below(Way& way) const {
  const Seats seats(region_);
  const Tenant* at = &region_.tenant(way.path[way.depth]);
  // Without pools and with the usual scope nobody is passed over: the first it is.
  while (is_inner(*at) && region_.root.places_used == 0) {
    if (way.depth == kDepthMax) throw RegionDamaged{"the tenant tree is too deep"};
    const uint32_t first = seats.first(*at);
    way.path[++way.depth] = first;
    if (first == kNoIndex) return false;
    at = &region_.tenant(first);
  }
  const Tenant& tenant = *at;
  if (!is_inner(tenant)) {
    way.slot = MessageLane(MessageKind{&region_}).first(tenant.lane);
    return way.slot != kNoIndex;
  }
  if (way.depth == kDepthMax) throw RegionDamaged{"the tenant tree is too deep"};
  ++way.depth;
  const Ranks ranks(region_);
  if (ranks.rule()) {
    way.path[way.depth] = RankedSeats(region_, ranks.is_turn_by_age(ranks.turns_of(way.path[0]))).first(tenant).tenant;
    if (way.path[way.depth] != kNoIndex && find_below(way)) return true;
    --way.depth;
    return false;
  }
  OpenSeats open(SeatKind{&region_}, tenant.lane);
  for (uint32_t child; (child = open.next()) != kNoIndex;) {
    way.path[way.depth] = child;
    if (find_below(way)) return true;
  }
  --way.depth;
  return false;
}

Turns::Way Turns::next_way(TenantIndex from) const {
  Way way;
  way.path[0] = static_cast<uint32_t>(from);
  if (Blockers(region_).any(way.path[0]) || !find_below(way)) return way;
  const Entry& entry = region_.entry(way.slot);
  if (entry.tenant != way.path[way.depth] || state_of(entry) != SlotState::ready) {
    throw RegionDamaged{"a message lies in a lane that is not its own"};
  }
  // When this one starts its neighbour comes first, and is written to.
  if (entry.next < region_.root.entries.capacity) fetch_ahead(region_.entry(entry.next));
  return way;
}

std::optional<SlotIndex> Turns::next(TenantIndex from) const {
  return index_or_none<SlotIndex>(next_way(from).slot);
}

std::optional<SlotIndex> Turns::take_by_parts(Txn& txn, TenantIndex from, const LeaseTerms& terms) const {
  const Way way = next_way(from);
  const uint32_t slot = way.slot;
  if (slot == kNoIndex) return std::nullopt;
  const Message message = region_.message(slot);
  if (expires_ms(region_, message.entry) <= terms.now_ms) return std::nullopt;
  const Seats seats(region_);
  const uint32_t leaf = message.entry.tenant;
  const Cost cost = Costs(region_).of(message.entry);
  Messages(region_).start(txn, message, terms);
  const Ranks ranks(region_);
  const uint32_t top = way.path[0];
  const bool by_age = ranks.rule() && ranks.is_turn_by_age(ranks.turns_of(top));
  const auto kind = by_age ? Seats::Turn::by_age : Seats::Turn::own;
  for (uint32_t depth = way.depth; depth > 0; --depth) {
    seats.charge(txn, way.path[depth - 1], way.path[depth], cost.turns, kind);
  }
  if (ranks.rule()) ranks.count_turn(txn, top);
  Costs(region_).note_start(txn, message.entry, cost, region_.tenant(top).level);
  seats.reseat(txn, top);
  Limits(region_).started(txn, leaf, terms.now_ms);
  return SlotIndex{slot};
}

uint64_t Turns::group_size(TenantIndex leaf, uint64_t taken) const {
  return std::min<uint64_t>(region_.root.terms.batch_max,
                            taken + region_.tenant(static_cast<uint32_t>(leaf)).lane.count);
}

std::optional<SlotIndex> Turns::take_more(Txn& txn, TenantIndex from, TenantIndex leaf,
                                          const LeaseTerms& terms) const {
  const auto top = static_cast<uint32_t>(from);
  const auto node = static_cast<uint32_t>(leaf);
  if (Blockers(region_).any(node)) return std::nullopt;
  const uint32_t slot = MessageLane(MessageKind{&region_}).first(region_.tenant(node).lane);
  if (slot == kNoIndex || expires_ms(region_, region_.entry(slot)) <= terms.now_ms) return std::nullopt;
  // Where nobody else is before it, it is its turn again.
  bool its_turn[kDepthMax];
  uint32_t depth = 0;
  for (uint32_t i = node; i != top; i = region_.tenant(i).parent) {
    if (depth == kDepthMax) throw RegionDamaged{"the tenant tree is too deep"};
    OpenSeats others(SeatKind{&region_}, region_.tenant(region_.tenant(i).parent).lane);
    its_turn[depth++] = others.next() == i;
  }
  const Seats seats(region_);
  const Message message = region_.message(slot);
  const Cost cost = Costs(region_).of(message.entry);
  Messages(region_).start(txn, message, terms);
  depth = 0;
  for (uint32_t i = node; i != top; i = region_.tenant(i).parent) {
    seats.charge(txn, region_.tenant(i).parent, i, cost.turns,
                 its_turn[depth++] ? Seats::Turn::own : Seats::Turn::beside);
  }
  Costs(region_).note_start(txn, message.entry, cost, region_.tenant(top).level);
  seats.reseat(txn, top);
  Limits(region_).started(txn, node, terms.now_ms);
  return SlotIndex{slot};
}

void Turns::end_group(Txn& txn, TenantIndex leaf, int64_t now_ms) const {
  Gathering(region_).begin_anew(txn, static_cast<uint32_t>(leaf), now_ms);
}

}  // namespace fq
