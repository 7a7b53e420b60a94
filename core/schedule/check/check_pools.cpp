// check_pools - the invariants of pools (P1 to P4, P6) and of the seats that need them, for schedule_faults.
#include "core/schedule/check/check.h"

// System.
#include <set>

namespace fq {

/// Leases by pool, each once, and members.
void Checker::count_of_pools() {
  for (uint32_t i = 0; i < region_.root.tenant_supply.high_water; ++i) {
    const Tenant& tenant = region_.tenant(i);
    if (!is_used(tenant)) continue;
    const uint32_t own = pool_of(region_, tenant);
    if (own < pool_members_.size()) ++pool_members_[own];
    expect(own == kNoIndex || (own < pool_members_.size() && region_.pool(own).used != 0),
           "a tenant in a pool that is not there", i);
    if (is_inner(tenant) || tenant.counts.leased == 0) continue;
    std::set<uint32_t> needed;
    StepLimit limit(kDepthMax);
    for (uint32_t node = i; node != 0; limit.step()) {
      const uint32_t pool = pool_of(region_, region_.tenant(node));
      if (needed.insert(pool).second && pool != kNoIndex) member_leases_[node] += tenant.counts.leased;
      node = region_.tenant(node).parent;
    }
    for (const uint32_t pool : needed)
      if (pool < pool_leases_.size()) pool_leases_[pool] += tenant.counts.leased;
  }
}

void Checker::check_pool(uint32_t i, const Pool& pool) {
  text_cells_ += text_cells(text_length(region_, pool.name));
  timers_ += pool.heap_place != kNoIndex ? 1u : 0u;
  expect(pool.leased == pool_leases_[i], "P1: a pool that counts its leases wrongly", i);
  expect(pool.members.count == pool_members_[i], "P5: a pool that counts its members wrongly", i);
  const bool full = pool.leased >= pool.terms.concurrency;
  expect(full == ((pool.blocks & kBlockConcurrency) != 0), "P2: a full pool that is not blocked", i);
  expect((pool.blocks & kBlockRate) == 0 || pool.heap_place != kNoIndex,
         "B2: a pool that waits for a time that does not come", i);
}

void Checker::check_sets(uint32_t seat) {
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

}  // namespace fq
