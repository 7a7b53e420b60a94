#include "core/schedule/rings/pool_sets.h"

// System.
#include <bit>

namespace fq {
namespace {

constexpr uint32_t kSomeBit = 63;

template <class Visit>
void each_bit(uint64_t bits, Visit visit) {
  for (; bits != 0; bits &= bits - 1) visit(static_cast<uint32_t>(std::countr_zero(bits)));
}

/// Calls `visit(pool)` for each pool of this set until it returns true.
template <class Visit>
bool any_pool(const ScheduleRoot& root, uint32_t bit, Visit visit) {
  StepLimit limit(kDepthMax);
  for (; bit != 0; bit = root.pool_sets[bit].rest) {
    if (bit > kPoolSetsMax) region_damaged("a set of pools has no such bit");
    limit.step();
    const uint32_t pool_after = root.pool_sets[bit].pool_after;
    if (pool_after != 0 && visit(pool_after - 1)) return true;
  }
  return false;
}

}  // namespace

bool PoolSets::needs(uint32_t bit, uint32_t pool) const {
  return any_pool(region_.root, bit, [&](uint32_t each) { return each == pool; });
}

/// The bit of the set, 0 where there is none.
uint32_t PoolSets::find(uint32_t rest, uint32_t pool) const {
  for (uint32_t bit = 1; bit <= kPoolSetsMax; ++bit) {
    const PoolSet& set = region_.root.pool_sets[bit];
    if (set.pool_after == pool + 1 && set.rest == rest) return bit;
  }
  return 0;
}

uint32_t PoolSets::make(Txn& txn, uint32_t rest, uint32_t pool) const {
  for (uint32_t bit = 1; bit <= kPoolSetsMax; ++bit) {
    PoolSet& set = region_.root.pool_sets[bit];
    if (set.pool_after != 0) continue;
    put(txn, set.pool_after, pool + 1);
    put(txn, set.rest, rest);
    note_change(txn);
    return bit;
  }
  return kSomeBit;
}

uint64_t PoolSets::with(Txn& txn, uint64_t sets, uint32_t pool) const {
  uint64_t all = 0;
  each_bit(sets, [&](uint32_t rest) {
    if (rest == kSomeBit || needs(rest, pool)) {
      all |= uint64_t{1} << rest;
      return;
    }
    const uint32_t found = find(rest, pool);
    all |= uint64_t{1} << (found != 0 ? found : make(txn, rest, pool));
  });
  return all;
}

uint64_t PoolSets::known_with(uint64_t sets, uint32_t pool) const {
  uint64_t all = 0;
  each_bit(sets, [&](uint32_t rest) {
    const bool same = rest == kSomeBit || needs(rest, pool);
    const uint32_t found = same ? rest : find(rest, pool);
    all |= uint64_t{1} << (same || found != 0 ? found : kSomeBit);
  });
  return all;
}

uint64_t PoolSets::closed() const {
  uint64_t closed = 0;
  for (uint32_t bit = 1; bit <= kPoolSetsMax; ++bit) {
    const bool lacks =
        any_pool(region_.root, bit, [&](uint32_t pool) { return region_.pool(pool).blocks != 0; });
    if (lacks) closed |= uint64_t{1} << bit;
  }
  return closed;
}

void PoolSets::forget(Txn& txn, uint32_t pool) const {
  // Those that need it first: what is left of them would be another set.
  uint64_t gone = 0;
  for (uint32_t bit = 1; bit <= kPoolSetsMax; ++bit) {
    if (needs(bit, pool)) gone |= uint64_t{1} << bit;
  }
  each_bit(gone, [&](uint32_t bit) {
    put(txn, region_.root.pool_sets[bit].pool_after, 0);
    put(txn, region_.root.pool_sets[bit].rest, 0);
  });
  if (gone != 0) note_change(txn);
}

}  // namespace fq
