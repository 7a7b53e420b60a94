// preview - see preview.h.
#include "core/schedule/look/preview.h"

// System.
#include <algorithm>
#include <map>
#include <utility>
// fq, this room.
#include "core/schedule/rings/costs.h"
#include "core/schedule/order/message_order.h"
#include "core/schedule/rings/open_seats.h"
#include "core/schedule/look/preview_ranks.h"
#include "core/schedule/tree/tenant_tree.h"

namespace fq {

struct Preview::Node {
  using Place = std::pair<uint64_t, uint64_t>;  // tag, sequence

  Node(const Region& in, uint32_t at, const Starts* thought)
      : region(in),
        index(at),
        starts(thought),
        tenant(in.tenant(index)),
        joins(tenant.joins),
        vtime(tenant.vtime),
        ticks(expected_ticks(tenant)),
        refund(in.root.places_used == 0 ? 0 : in.place(index).refund.get()),
        waits(SeatKind{&in}.sets(index) != kNoPool || is_ranked(in.root)),
        late(waits || (tenant.flags & kTenantLate) != 0) {
    if (is_inner(tenant)) {
      waiting.emplace(SeatKind{&region}, tenant.lane);
    } else {
      messages.emplace(MessageKind{&region}, tenant.lane);
    }
  }

  bool is_empty() {
    if (messages) return messages->peek() == kNoIndex;
    return waiting->peek() == kNoIndex && served.empty();
  }

  uint32_t next(uint32_t depth) {
    if (depth > kDepthMax) throw RegionDamaged{"the tenant tree is too deep"};
    if (starts != nullptr && starts->left_at(index) == 0) return kNoIndex;
    if (messages) return messages->next();
    for (;;) {
      auto [place, child] = take_seat();
      if (child == nullptr) return kNoIndex;
      const uint32_t slot = child->next(depth + 1);
      if (slot == kNoIndex) continue;  // see kSomePools; or a limit is used up
      const Cost cost = Costs(region).of(region.entry(slot));
      const uint32_t weight = child->tenant.weight_milli;
      // As Seats::charge.
      const bool was_late = std::exchange(child->late, child->waits);
      const uint64_t begin = was_late ? begin_of_late(vtime, place.first, child->refund) : place.first;
      vtime = clock_after(vtime, place.first, weight, child->ticks);
      child->ticks += ticks_of(cost.rough);
      const uint64_t tag = begin + turn_of(weight, cost.turns);
      child->refund = refund_left(vtime, tag);
      if (!child->is_empty()) served.emplace(Place{tag, joins++}, std::move(child));
      return slot;
    }
  }

  std::pair<Place, std::unique_ptr<Node>> take_seat() {
    const uint32_t seat = waiting->peek();
    Place place{UINT64_MAX, UINT64_MAX};
    if (seat != kNoIndex) place = {region.tenant(seat).tag, region.tenant(seat).sequence};
    if (!served.empty() && served.begin()->first < place) {
      const auto first = served.begin();
      std::pair<Place, std::unique_ptr<Node>> taken{first->first, std::move(first->second)};
      served.erase(first);
      return taken;
    }
    if (seat == kNoIndex) return {place, nullptr};
    waiting->next();
    return {place, std::make_unique<Node>(region, seat, starts)};
  }

  const Region& region;
  uint32_t index;
  const Starts* starts;
  const Tenant& tenant;
  uint64_t joins;
  uint64_t vtime;
  uint64_t ticks;  // expected_ticks
  uint64_t refund;
  bool waits;  // see Seats::is_late
  bool late;
  std::optional<LaneWalk<MessageKind>> messages;
  std::optional<OpenSeats> waiting;
  std::map<Place, std::unique_ptr<Node>> served;
};

Preview::Preview(const Schedule& schedule, TenantIndex from, Starts* starts)
    : schedule_(schedule), from_(static_cast<uint32_t>(from)), starts_(starts) {
  const Region& region = schedule_.region();
  if (TenantTree(region).is_blocked(from_)) return;
  if (Ranks(region).rule()) {
    ranked_ = std::make_unique<RankedPreview>(region, from_, starts_);
    stamps_ = region.root.terms.stamps;
    turns_ = Ranks(region).turns_of(from_);
  } else {
    root_ = std::make_unique<Node>(region, from_, starts_);
  }
}

Preview::~Preview() = default;

std::optional<SlotIndex> Preview::next_ranked() {
  const Ranks ranks(schedule_.region());
  const bool by_age = ranks.is_turn_by_age(turns_);
  const uint32_t slot = ranked_->next(by_age, stamps_);
  if (slot == kNoIndex) return std::nullopt;
  turns_ = ranks.turns_after(turns_);
  by_ = by_age ? By::age : By::rank;
  return SlotIndex{slot};
}

std::optional<SlotIndex> Preview::next_by_turn() {
  if (root_ == nullptr || root_->is_empty()) return std::nullopt;
  return index_or_none<SlotIndex>(root_->next(0));
}

std::optional<SlotIndex> Preview::next() {
  if (starts_ != nullptr && starts_->left(from_) == 0) return std::nullopt;
  const std::optional<SlotIndex> slot = ranked_ != nullptr ? next_ranked() : next_by_turn();
  if (slot && starts_ != nullptr) starts_->start(schedule_.messages().entry(*slot).tenant);
  return slot;
}

}  // namespace fq
