#include "tests/schedule/fair_shares.h"

// System.
#include <algorithm>

namespace fq::test {

void FairShares::Group::forget(uint32_t child) {
  seats.erase(child);
  std::erase_if(pairs,
                [&](const auto& each) { return each.first.first == child || each.first.second == child; });
}

void FairShares::before_start(uint64_t id) {
  // Places of nodes that were forgotten are used again.
  const uint32_t tenants = queue_->root().tenant_supply.used;
  if (tenants < tenants_) groups_.clear();
  tenants_ = tenants;
  path_.assign(1, queue_->entry(id).tenant);
  while (path_.back() != static_cast<uint32_t>(kRootTenant)) {
    path_.push_back(at(path_.back()).parent);
    look_at_seats(path_.back());
  }
}

/// Who lost its seat since the last look, or took a new one, begins anew.
void FairShares::look_at_seats(uint32_t parent) {
  Group& group = groups_[parent];
  std::map<uint32_t, uint64_t> seats;
  const Schedule schedule = queue_->schedule();
  LaneWalk<SeatKind> walk(SeatKind{&schedule.region()}, at(parent).lane);
  for (uint32_t seat; (seat = walk.next()) != kNoIndex;) seats[seat] = at(seat).sequence;
  const auto before = group.seats;
  for (const auto& [child, sequence] : before) {
    const auto now = seats.find(child);
    if (now == seats.end() || now->second != sequence) group.forget(child);
  }
  group.seats = std::move(seats);
}

void FairShares::started(uint64_t) {
  for (size_t i = 0; i + 1 < path_.size(); ++i) count_turn(path_[i + 1], path_[i]);
}

void FairShares::count_turn(uint32_t parent, uint32_t child) {
  Group& group = groups_[parent];
  const auto mine = static_cast<int64_t>(turn_of(at(child).weight_milli));
  for (const auto& [other, sequence] : group.seats) {
    if (other == child) continue;
    Spread& spread = group.pairs[std::minmax(child, other)];
    spread.now += child < other ? mine : -mine;
    spread.lowest = std::min(spread.lowest, spread.now);
    spread.highest = std::max(spread.highest, spread.now);
    ++pairs_compared_;
    const auto its = static_cast<int64_t>(turn_of(at(other).weight_milli));
    if (spread.highest - spread.lowest <= mine + its || !fault_.empty()) continue;
    fault_ = "at " + std::to_string(queue_->now) + ": " + queue_->schedule().path_of(TenantIndex{child}) +
             " and " + queue_->schedule().path_of(TenantIndex{other}) + " differ by " +
             std::to_string(spread.highest - spread.lowest) + ", turns of " + std::to_string(mine) + " and " +
             std::to_string(its);
  }
  const Tenant& tenant = at(child);
  if (is_seated(tenant)) {
    group.seats[child] = tenant.sequence;
  } else {
    group.forget(child);
  }
}

}  // namespace fq::test
