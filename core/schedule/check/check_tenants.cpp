// check_tenants - the tenants' part of the walk: their sums, seats, blocks and lanes.
#include "core/schedule/check/check.h"
#include "core/schedule/memory/members.h"

// System.
#include <algorithm>

namespace fq {

void Checker::add_to_those_above() {
  const std::vector<Sums> own = tenant_sums_;
  for (uint32_t i = 0; i < own.size(); ++i) {
    if (!is_used(region_.tenant(i))) continue;
    StepLimit limit(kDepthMax);
    for (uint32_t above = i; above != 0; limit.step()) {
      above = region_.tenant(above).parent;
      if (above >= own.size()) throw RegionDamaged{"a tenant has no parent"};
      Sums& sums = tenant_sums_[above];
      for (size_t state = 0; state < sums.of_state.size(); ++state)
        sums.of_state[state] += own[i].of_state[state];
      sums.bytes += own[i].bytes;
    }
  }
}

void Checker::check_tenants() {
  const ScheduleRoot& root = region_.root;
  std::vector<uint32_t> children(root.tenant_supply.high_water, 0);
  for (uint32_t i = 0; i < root.tenant_supply.high_water; ++i) {
    const Tenant& tenant = region_.tenant(i);
    if (!is_used(tenant)) continue;
    ++used_tenants_;
    parked_ += is_parked(tenant) ? 1u : 0u;
    timers_ += tenant.heap_place != kNoIndex ? 1u : 0u;
    check_node(i, tenant);
    check_blocks(i, tenant);
    if (is_inner(tenant)) {
      check_lane(SeatKind{&region_}, tenant.lane, i);
      check_ring(i, tenant);
    } else {
      ++leaves_;
      active_ += tenant.lane.count != 0 ? 1u : 0u;
      check_lane(MessageKind{&region_}, tenant.lane, i);
      check_messages(i, tenant);
    }
    if (i != 0 && tenant.parent < children.size()) ++children[tenant.parent];
  }
  for (uint32_t i = 0; i < children.size(); ++i) {
    const Tenant& tenant = region_.tenant(i);
    if (is_used(tenant))
      expect(tenant.children == children[i], "T3: a node that counts its children wrongly", i);
  }
}

void Checker::check_node(uint32_t i, const Tenant& tenant) {
  const Sums& sums = tenant_sums_[i];
  const CountsNow counts = counts_of(region_, i);
  const auto of = [&](SlotState state) { return sums.of_state[static_cast<size_t>(state)]; };
  expect(counts.ready == of(SlotState::ready) && counts.delayed == of(SlotState::delayed) &&
             counts.leased == of(SlotState::leased) && counts.held == of(SlotState::held) &&
             counts.dead == of(SlotState::dead),
         "T2: a tenant that counts its messages wrongly", i);
  if (i == 0) return;
  expect(tenant.payload_bytes == sums.bytes, "T2: a tenant that counts its bytes wrongly", i);
  expect(expected_ticks(tenant) <= charges_[i], "T4: a tenant of which more is expected than runs", i);
  const Tenant& parent = region_.tenant(tenant.parent);
  expect(is_used(parent) && is_inner(parent), "a tenant below a leaf", i);
  expect(tenant.level == parent.level + 1, "a tenant on a wrong level", i);
  expect(is_seated(tenant) == can_be_served(tenant), "T1: a seat without need, or the other way round", i);
  if ((tenant.flags & kTenantSelf) != 0) {
    expect(parent.self == i, "a self child that its parent does not know", i);
    return;
  }
  ++named_;
  const std::string path = schedule_.tenants().path_of(TenantIndex{i});
  text_cells_ += text_cells(path.size());
  expect(schedule_.tenants().find(path) == TenantIndex{i}, "H1: a tenant that its path does not find", i);
  const std::string above = schedule_.tenants().path_of(TenantIndex{tenant.parent.get()});
  expect(above.empty() || path.starts_with(above + "/"), "a tenant below a path that is not its own", i);
}

void Checker::check_blocks(uint32_t i, const Tenant& tenant) {
  const bool gathers = (tenant.blocks & kBlockGather) != 0;
  const bool others = (tenant.blocks & ~kBlockGather) != 0;
  expect(!others || has_control(tenant), "C2: a tenant blocked by nothing", i);
  expect(!gathers || (!is_inner(tenant) && tenant.lane.count != 0 && tenant.heap_place != kNoIndex),
         "G1: a tenant that gathers nothing, or for ever", i);
  const bool behind = nodes_behind(region_.root) != kNoIndex;
  expect(!gathers || behind ||
             (region_.root.terms.linger_ms > 0 && tenant.lane.count < region_.root.terms.batch_max),
         "G1: a tenant that gathers what has gathered", i);
  if (!has_control(tenant)) return;
  ++used_controls_;
  const Control& control = control_of(region_, tenant);
  setting_bytes_ += setting_bytes_of(region_, control);
  expect(control.node == i, "C1: a control that does not know whose it is", i);
  if ((control.set.given & kGivenPool) != 0)
    text_cells_ += text_cells(text_length(region_, control.set.pool));
  const bool full = counts_of(region_, i).leased >= control.concurrency;
  expect(full == ((tenant.blocks & kBlockConcurrency) != 0),
         "B1: a tenant at its concurrency and not blocked", i);
  const bool waits = (tenant.blocks & (kBlockRate | kBlockLimited)) != 0;
  expect(!waits || tenant.heap_place != kNoIndex, "B2: a tenant that waits for a time that does not come", i);
}

void Checker::check_controls() {
  if (region_.root.control_supply.used != used_controls_) fault("A1: used controls are counted wrongly");
  if (region_.root.setting_bytes != setting_bytes_) fault("A2: the bytes of settings are counted wrongly");
}

void Checker::check_ring(uint32_t i, const Tenant& tenant) {
  // Who was charged too much has his seat in the past, once that is made up for.
  // Where there are pools it may have been passed over.
  const bool may_be_past = region_.root.places_used != 0 || terms_of(region_.root).fair_by == FairBy::time ||
                           nodes_behind(region_.root) != kNoIndex;
  LaneWalk<SeatKind> walk(SeatKind{&region_}, tenant.lane);
  for (uint32_t seat; (seat = walk.next()) != kNoIndex;) {
    const Tenant& child = region_.tenant(seat);
    expect(is_used(child) && child.parent == i && is_seated(child), "T1: a wrong seat", seat);
    expect((child.tag >= tenant.vtime || may_be_past) && child.sequence < tenant.joins, "a seat in the past",
           seat);
    check_sets(seat);
  }
}

void Checker::check_messages(uint32_t i, const Tenant& tenant) {
  expect(tenant.lane.count == tenant.counts.ready, "a lane that is not what is ready", i);
  LaneWalk<MessageKind> walk(MessageKind{&region_}, tenant.lane);
  for (uint32_t slot; (slot = walk.next()) != kNoIndex;) {
    const Entry& entry = region_.entry(slot);
    expect(entry.tenant == i && state_of(entry) == SlotState::ready, "a wrong message in a lane", slot);
  }
}

void Checker::check_members(const Pool& pool, uint32_t i) {
  check_lane(MemberKind{&region_}, pool.members, i);
  LaneWalk<MemberKind> walk(MemberKind{&region_}, pool.members);
  for (uint32_t node; (node = walk.next()) != kNoIndex;) {
    const bool knows = region_.place(node).member.node == node;
    expect(knows && pool_of(region_, region_.tenant(node)) == i, "P5: a wrong member", node);
    expect(region_.place(node).member.leased == member_leases_[node],
           "P6: a member that counts its leases wrongly", node);
  }
}

void Checker::check_dead() {
  const Lane& dead = region_.root.dead;
  check_lane(DeadKind{&region_}, dead, 0);
  expect(dead.count == region_.root.counts.dead, "dead letters that are not in their lane", dead.count);
  LaneWalk<DeadKind> walk(DeadKind{&region_}, dead);
  for (uint32_t slot; (slot = walk.next()) != kNoIndex;)
    expect(state_of(region_.entry(slot)) == SlotState::dead, "a wrong message among the dead letters", slot);
}

// L1 to L3.
template <class Kind>
void Checker::check_lane(Kind kind, const Lane& lane, uint32_t owner) {
  uint32_t seen = 0, last = kNoIndex;
  LaneWalk<Kind> walk(kind, lane);
  for (uint32_t i; (i = walk.next()) != kNoIndex; last = i, ++seen) {
    if (last != kNoIndex) expect(kind.less(kind.at(last), kind.at(i)), "L1: a lane out of order", owner);
  }
  expect(seen == lane.count, "L3: a lane that does not count right", owner);
  uint32_t listed = 0, prev = kNoIndex;
  StepLimit limit(lane.count + 1);
  for (uint32_t i = lane.head; i != kNoIndex; prev = i, i = kind.at(i).next) {
    limit.step();
    ++listed;
    expect(kind.at(i).prev == prev && (kind.at(i).flags & Kind::kInTree) == 0, "L1: a broken list", owner);
  }
  expect(lane.tail == prev, "L1: a list with another tail", owner);
  uint32_t in_tree = 0;
  check_tree(kind, lane.root, kTreeHeightMax, in_tree, owner);
  expect(listed + in_tree == lane.count, "L3: list and tree are not the lane", owner);
}

template <class Kind>
uint32_t Checker::check_tree(Kind kind, uint32_t i, uint32_t depth, uint32_t& count, uint32_t owner) {
  if (i == kNoIndex) return 0;
  const uint32_t most =
      std::max<uint32_t>(region_.root.entry_supply.high_water, region_.root.tenant_supply.high_water);
  if (depth == 0 || ++count > most) throw RegionDamaged{"L2: a tree is too high"};
  const uint32_t left = check_tree(kind, kind.at(i).prev, depth - 1, count, owner);
  const uint32_t right = check_tree(kind, kind.at(i).next, depth - 1, count, owner);
  const uint32_t height = 1 + std::max(left, right);
  expect(kind.at(i).height == height && left <= right + 1 && right <= left + 1, "L2: a tree out of balance",
         owner);
  expect((kind.at(i).flags & Kind::kInTree) != 0, "L3: a tree element that does not say so", owner);
  if constexpr (std::is_same_v<Kind, MemberKind>)
    expect(kind.sum_of(i) == kind.sum_at(i), "P6: a tree element that does not know what is below it", owner);
  return height;
}

}  // namespace fq
