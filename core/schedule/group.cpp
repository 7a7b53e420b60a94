// group - several messages of one tenant, taken one behind the other in one turn; each costs one all the
// same.
#include "core/schedule/schedule.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/schedule/rings/costs.h"
#include "core/schedule/rings/open_seats.h"
#include "core/schedule/rings/pools.h"
#include "core/schedule/state.h"

namespace fq {

uint64_t Schedule::group_size(TenantIndex leaf, uint64_t taken) const {
  return std::min<uint64_t>(region_.root.terms.batch_max, taken + tenant(leaf).lane.count);
}

std::optional<SlotIndex> Schedule::lease_more(Txn& txn, TenantIndex from, TenantIndex leaf,
                                              const LeaseTerms& terms) {
  const auto top = static_cast<uint32_t>(from);
  const auto node = static_cast<uint32_t>(leaf);
  if (TenantTree(region_).is_blocked(node)) return std::nullopt;
  const uint32_t slot = MessageLane(MessageKind{&region_}).first(region_.tenant(node).lane);
  if (slot == kNoIndex || fq::expires_ms(region_, region_.entry(slot)) <= terms.now_ms) return std::nullopt;
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
  start(txn, message, terms);
  depth = 0;
  for (uint32_t i = node; i != top; i = region_.tenant(i).parent) {
    seats.charge(txn, region_.tenant(i).parent, i, cost.turns,
                 its_turn[depth++] ? Seats::Turn::own : Seats::Turn::beside);
  }
  Costs::note_start(txn, message.entry, cost, region_.tenant(top).level);
  seats.settle(txn, top);
  Limits(region_).started(txn, node, terms.now_ms);
  return SlotIndex{slot};
}

void Schedule::end_group(Txn& txn, TenantIndex leaf, int64_t now_ms) {
  Gathering(region_).begin_anew(txn, static_cast<uint32_t>(leaf), now_ms);
}

}  // namespace fq
