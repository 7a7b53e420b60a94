#include "core/schedule/check/pools_check.h"

// System.
#include <set>

namespace fq {

void PoolsCheck::check() {
  const ScheduleRoot& root = region_.root;
  pool_leases_.assign(root.pool_supply.high_water, 0);
  pool_members_.assign(root.pool_supply.high_water, 0);
  member_leases_.assign(root.tenant_supply.high_water, 0);
  count_of_pools();
  uint64_t used = 0;
  for (uint32_t i = 0; i < root.pool_supply.high_water; ++i) {
    const Pool& pool = region_.pool(i);
    if (pool.used == 0) continue;
    ++used;
    check_pool(i, pool);
    check_members(pool, i);
  }
  if (used != root.pool_supply.used) fault("A1: used pools are counted wrongly");
  if (PoolSets(region_).closed() != root.closed_sets) fault("P4: what lacks room is not what is full");
  if (root.pool_bucket_count == 0) return;
  const uint64_t named = check_index(PoolIndexKind{&region_}, "H1: a pool in a wrong bucket");
  if (named != used) fault("H1: the pool index does not hold all pools");
}

/// Leases by pool, each once, and members.
void PoolsCheck::count_of_pools() {
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

void PoolsCheck::check_pool(uint32_t i, const Pool& pool) {
  tally_.text_cells += text_cells(text_length(region_, pool.name));
  tally_.timers += pool.heap_place != kNoIndex ? 1u : 0u;
  expect(pool.leased == pool_leases_[i], "P1: a pool that counts its leases wrongly", i);
  expect(pool.members.count == pool_members_[i], "P5: a pool that counts its members wrongly", i);
  const bool full = pool.leased >= pool.terms.concurrency;
  expect(full == ((pool.blocks & kBlockConcurrency) != 0), "P2: a full pool that is not blocked", i);
  expect((pool.blocks & kBlockRate) == 0 || pool.heap_place != kNoIndex,
         "B2: a pool that waits for a time that does not come", i);
}

void PoolsCheck::check_members(const Pool& pool, uint32_t i) {
  check_lane(MemberKind{&region_}, pool.members, i);
  LaneWalk<MemberKind> walk(MemberKind{&region_}, pool.members);
  for (uint32_t node; (node = walk.next()) != kNoIndex;) {
    const bool knows = region_.place(node).member.node == node;
    expect(knows && pool_of(region_, region_.tenant(node)) == i, "P5: a wrong member", node);
    expect(region_.place(node).member.leased == member_leases_[node],
           "P6: a member that counts its leases wrongly", node);
  }
}

}  // namespace fq
