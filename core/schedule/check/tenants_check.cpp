#include "core/schedule/check/tenants_check.h"

namespace fq {

void TenantsCheck::add_to_those_above() {
  const std::vector<NodeSums> own = tally_.of_nodes;
  for (uint32_t i = 0; i < own.size(); ++i) {
    if (!is_used(region_.tenant(i))) continue;
    StepLimit limit(kDepthMax);
    for (uint32_t above = i; above != 0; limit.step()) {
      above = region_.tenant(above).parent;
      if (above >= own.size()) throw RegionDamaged{"a tenant has no parent"};
      NodeSums& sums = tally_.of_nodes[above];
      for (size_t state = 0; state < sums.of_state.size(); ++state)
        sums.of_state[state] += own[i].of_state[state];
      sums.bytes += own[i].bytes;
    }
  }
}

void TenantsCheck::check() {
  const ScheduleRoot& root = region_.root;
  std::vector<uint32_t> children(root.tenant_supply.high_water, 0);
  for (uint32_t i = 0; i < root.tenant_supply.high_water; ++i) {
    const Tenant& tenant = region_.tenant(i);
    if (!is_used(tenant)) continue;
    ++tally_.used_tenants;
    tally_.parked += is_parked(tenant) ? 1u : 0u;
    tally_.timers += tenant.heap_place != kNoIndex ? 1u : 0u;
    check_node(i, tenant);
    check_blocks(i, tenant);
    if (is_inner(tenant)) {
      check_lane(SeatKind{&region_}, tenant.lane, i);
      check_ring(i, tenant);
    } else {
      ++tally_.leaves;
      tally_.active += tenant.lane.count != 0 ? 1u : 0u;
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

void TenantsCheck::check_node(uint32_t i, const Tenant& tenant) {
  const NodeSums& sums = tally_.of_nodes[i];
  const CountsNow counts = counts_of(region_, i);
  const auto of = [&](SlotState state) { return sums.of_state[static_cast<size_t>(state)]; };
  expect(counts.ready == of(SlotState::ready) && counts.delayed == of(SlotState::delayed) &&
             counts.leased == of(SlotState::leased) && counts.held == of(SlotState::held) &&
             counts.dead == of(SlotState::dead),
         "T2: a tenant that counts its messages wrongly", i);
  if (i == 0) return;
  expect(tenant.payload_bytes == sums.bytes, "T2: a tenant that counts its bytes wrongly", i);
  expect(expected_ticks(tenant) <= tally_.charges[i], "T4: a tenant of which more is expected than runs", i);
  const Tenant& parent = region_.tenant(tenant.parent);
  expect(is_used(parent) && is_inner(parent), "a tenant below a leaf", i);
  expect(tenant.level == parent.level + 1, "a tenant on a wrong level", i);
  expect(is_seated(tenant) == can_be_served(tenant), "T1: a seat without need, or the other way round", i);
  if ((tenant.flags & kTenantSelf) != 0) {
    expect(parent.self == i, "a self child that its parent does not know", i);
    return;
  }
  ++tally_.named;
  const std::string path = schedule_.tenants().path_of(TenantIndex{i});
  tally_.text_cells += text_cells(path.size());
  expect(schedule_.tenants().find(path) == TenantIndex{i}, "H1: a tenant that its path does not find", i);
  const std::string above = schedule_.tenants().path_of(TenantIndex{tenant.parent.get()});
  expect(above.empty() || path.starts_with(above + "/"), "a tenant below a path that is not its own", i);
}

void TenantsCheck::check_blocks(uint32_t i, const Tenant& tenant) {
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
    tally_.text_cells += text_cells(text_length(region_, control.set.pool));
  const bool full = counts_of(region_, i).leased >= control.concurrency;
  expect(full == ((tenant.blocks & kBlockConcurrency) != 0),
         "B1: a tenant at its concurrency and not blocked", i);
  const bool waits = (tenant.blocks & (kBlockRate | kBlockLimited)) != 0;
  expect(!waits || tenant.heap_place != kNoIndex, "B2: a tenant that waits for a time that does not come", i);
}

void TenantsCheck::check_controls() {
  if (region_.root.control_supply.used != used_controls_) fault("A1: used controls are counted wrongly");
  if (region_.root.setting_bytes != setting_bytes_) fault("A2: the bytes of settings are counted wrongly");
}

void TenantsCheck::check_ring(uint32_t i, const Tenant& tenant) {
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

void TenantsCheck::check_sets(uint32_t seat) {
  const SeatKind kind{&region_};
  const Tenant& tenant = region_.tenant(seat);
  const uint64_t has = kind.sets(seat);
  const uint64_t needs = Seats(region_).sets_of(seat);
  // A set may have got its own bit after this seat found none free.
  expect(has == needs || (has & kSomePools) != 0, "P3: a seat that does not know its pools", seat);
  if ((tenant.flags & kTenantInTree) == 0) {
    expect(has == kNoPool, "P3: a seat with pools outside the tree", seat);
  } else {
    expect(kind.sum_of(seat) == kind.sum_at(seat), "L4: a tree element that does not know what is below it",
           seat);
  }
  if (!Ranks(region_).rule()) return;
  expect((tenant.flags & kTenantInTree) != 0, "K2: a seat that a search does not find", seat);
  const Ranks ranks(region_);
  const uint32_t first = region_.place(seat).first, other = Seats(region_).first_of(seat);
  const bool ready = first != kNoIndex && state_of(region_.entry(first)) == SlotState::ready;
  expect(
      ready && ranks.is_known(seat) && !ranks.goes_before(other, first) && !ranks.goes_before(first, other),
      "K1: a seat that does not know what goes first", seat);
  uint32_t node = first == kNoIndex ? kNoIndex : region_.entry(first).tenant.get();
  for (StepLimit limit(kDepthMax); node != seat && node != 0 && node != kNoIndex; limit.step())
    node = region_.tenant(node).parent;
  expect(node == seat, "K1: a seat that tells of a message that is not below it", seat);
}

void TenantsCheck::check_messages(uint32_t i, const Tenant& tenant) {
  expect(tenant.lane.count == tenant.counts.ready, "a lane that is not what is ready", i);
  LaneWalk<MessageKind> walk(MessageKind{&region_}, tenant.lane);
  for (uint32_t slot; (slot = walk.next()) != kNoIndex;) {
    const Entry& entry = region_.entry(slot);
    expect(entry.tenant == i && state_of(entry) == SlotState::ready, "a wrong message in a lane", slot);
  }
}

}  // namespace fq
