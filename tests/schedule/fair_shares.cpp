#include "tests/schedule/fair_shares.h"

// System.
#include <algorithm>
#include <cstdlib>
// fq, below us.
#include "core/schedule/rings/costs.h"
#include "core/schedule/rings/open_seats.h"

namespace fq::test {

void FairShares::attach(Simulation& simulation) {
  queue_ = &simulation.queue();
  fair_by_ = simulation.scenario().fair_by;
  slots_ = simulation.scenario().slots;
}

void FairShares::Group::forget(uint32_t child) {
  seats.erase(child);
  std::erase_if(pairs,
                [&](const auto& each) { return each.first.first == child || each.first.second == child; });
}

uint64_t FairShares::cost_of(const Entry& entry) const {
  if (fair_by_ == FairBy::turns) return kTurn;
  if (fair_by_ == FairBy::bytes)
    return std::max<uint64_t>(1, (entry.payload_bytes + 63U) / 64) * (kTurn / 64);
  return ticks_of(entry.rough_cost) * (kTurn / 1000);
}

void FairShares::before_start(uint64_t id) {
  // Places of nodes that were forgotten are used again.
  const uint32_t tenants = queue_->root().tenant_supply.used;
  if (tenants < tenants_) groups_.clear();
  tenants_ = tenants;
  next_.path = path_from(queue_->entry(id).tenant);
  for (size_t i = 1; i < next_.path.size(); ++i) look_at_seats(next_.path[i]);
}

std::vector<uint32_t> FairShares::path_from(uint32_t leaf) const {
  std::vector<uint32_t> path{leaf};
  while (path.back() != static_cast<uint32_t>(kRootTenant)) path.push_back(at(path.back()).parent);
  return path;
}

/// Who lost its seat since the last look, or took a new one, begins anew.
void FairShares::look_at_seats(uint32_t parent) {
  Group& group = groups_[parent];
  std::map<uint32_t, uint64_t> seats;
  const Schedule schedule = queue_->schedule();
  OpenSeats walk(SeatKind{&schedule.region()}, at(parent).lane);
  for (uint32_t seat; (seat = walk.next()) != kNoIndex;) seats[seat] = at(seat).sequence;
  const auto before = group.seats;
  for (const auto& [child, sequence] : before) {
    const auto now = seats.find(child);
    if (now == seats.end() || now->second != sequence) group.forget(child);
  }
  group.seats = std::move(seats);
}

void FairShares::started(uint64_t id) {
  next_.cost = cost_of(queue_->entry(id));
  next_.began_ms = queue_->now;
  for (size_t i = 0; i + 1 < next_.path.size(); ++i) {
    const uint32_t child = next_.path[i], parent = next_.path[i + 1];
    Group& group = groups_[parent];
    const auto turn = static_cast<int64_t>(turn_of(at(child).weight_milli, next_.cost));
    count(parent, child, turn, turn);
    if (is_seated(at(child))) {
      group.seats[child] = at(child).sequence;
    } else {
      group.forget(child);
    }
  }
  runs_[id] = next_;
}

void FairShares::ended(uint64_t id, bool) {
  Run run = runs_[id];
  runs_.erase(id);
  if (fair_by_ != FairBy::time) return;
  // Its leaf may have become a self child since it began: the nodes that are above it now pay.
  run.path = path_from(run.path.front());
  const auto ticks = std::max<uint64_t>(50, static_cast<uint64_t>(queue_->now - run.began_ms) * 100);
  for (size_t i = 0; i + 1 < run.path.size(); ++i) {
    look_at_seats(run.path[i + 1]);
    const auto group = groups_.find(run.path[i + 1]);
    if (group == groups_.end() || !group->second.seats.contains(run.path[i])) continue;
    const uint32_t weight = at(run.path[i]).weight_milli;
    const auto expected = static_cast<int64_t>(turn_of(weight, run.cost));
    const auto took = static_cast<int64_t>(turn_of(weight, ticks * (kTurn / 1000)));
    count(run.path[i + 1], run.path[i], took - expected, std::max(took, expected));
  }
}

/// Its tag is `turn` later than before, and its start has cost `whole`.
void FairShares::count(uint32_t parent, uint32_t child, int64_t turn, int64_t whole) {
  Group& group = groups_[parent];
  int64_t& costliest = group.costliest[child];
  costliest = std::max(costliest, whole);
  for (const auto& [other, sequence] : group.seats) {
    if (other == child) continue;
    const auto [found, fresh] = group.pairs.try_emplace(std::minmax(child, other));
    Spread& spread = found->second;
    if (fresh) {
      const int64_t ahead = static_cast<int64_t>(at(child).tag - at(other).tag) - turn;
      spread.at_first = child < other ? ahead : -ahead;
    }
    spread.now += child < other ? turn : -turn;
    spread.lowest = std::min(spread.lowest, spread.now);
    spread.highest = std::max(spread.highest, spread.now);
    ++pairs_compared_;
    compare(group, child, other, spread);
  }
}

void FairShares::compare(const Group& group, uint32_t child, uint32_t other, const Spread& spread) {
  const auto costliest = [&](uint32_t i) {
    const auto found = group.costliest.find(i);
    const auto usual = static_cast<int64_t>(turn_of(at(i).weight_milli));
    return fair_by_ == FairBy::turns || found == group.costliest.end() ? usual : found->second;
  };
  const int64_t both = costliest(child) + costliest(other);
  bool fair = true;
  if (fair_by_ == FairBy::turns) {
    fair = spread.highest - spread.lowest <= both;
  } else {
    // What is ahead is paid back, never added to but by a run that is longer than was expected.
    const int64_t most = fair_by_ == FairBy::time ? slots_ * both : both;
    const int64_t ahead = spread.at_first + spread.now;
    fair = ahead <= std::max<int64_t>(0, spread.at_first) + most &&
           ahead >= std::min<int64_t>(0, spread.at_first) - most;
  }
  if (fair || !fault_.empty()) return;
  fault_ = "at " + std::to_string(queue_->now) + ": " +
           queue_->schedule().tenants().path_of(TenantIndex{child}) + " and " +
           queue_->schedule().tenants().path_of(TenantIndex{other}) + " differ by " +
           std::to_string(spread.now) + " of " + std::to_string(spread.at_first) + " (" +
           std::to_string(spread.lowest) + " to " + std::to_string(spread.highest) + "), starts of " +
           std::to_string(costliest(child)) + " and " + std::to_string(costliest(other));
}

}  // namespace fq::test
