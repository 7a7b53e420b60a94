// pool_terms - pools as the policy file defines them: made, brought up to date and removed.
#include "core/schedule/rings/pools.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/schedule/rings/bucket.h"
#include "core/schedule/order/delay_heap.h"
#include "core/schedule/memory/members.h"
#include "core/base/name_hash.h"

namespace fq {
namespace {

constexpr uint32_t kChangedMax = 16;           // in one transaction
constexpr uint32_t kPoolsLookedAtMax = 4'096;  // under one hold

void clear(Txn& txn, PoolTerms& terms) {
  put(txn, terms.generation, 0);
  put(txn, terms.concurrency, kNoCount);
  put(txn, terms.interval_ns, 0);
  put(txn, terms.burst, 1);
}

void copy(Txn& txn, PoolTerms& to, const PoolTerms& from) {
  put(txn, to.generation, from.generation.get());
  put(txn, to.concurrency, from.concurrency.get());
  put(txn, to.interval_ns, from.interval_ns.get());
  put(txn, to.burst, from.burst.get());
}

}  // namespace

void Pools::add(Txn& txn, uint32_t generation, std::string_view name, const NodeTerms& terms) const {
  ScheduleRoot& root = region_.root;
  put(txn, root.places_used, 1);
  if (root.pool_bucket_count == 0) {
    txn.set(root.pool_bucket_count, 1);
    txn.set(region_.arena.at(root.pool_buckets, 0).index, kNoIndex);
  }
  uint32_t i = find(name);
  if (i == kNoIndex) {
    const auto made = take_element(txn, region_.arena, root.pools, root.pool_supply);
    i = made.index;
    Pool& pool = made.at;
    clear(txn, pool.terms);
    MemberLane::clear(txn, pool.members);
    put(txn, pool.hash, hash_name(root.hash_key[0], root.hash_key[1], name));
    put(txn, pool.full_at_ns, 0);
    put(txn, pool.timer_ms, 0);
    put(txn, pool.heap_place, kNoIndex);
    put(txn, pool.name, text_add(txn, region_, name));
    put(txn, pool.leased, 0);
    put(txn, pool.blocks, 0);
    put(txn, pool.used, 1);
    index_.insert(txn, i, pool, root.pool_supply.used);
  }
  PoolTerms& next = region_.pool(i).next;
  put(txn, next.generation, generation);
  put(txn, next.concurrency, terms.concurrency);
  put(txn, next.interval_ns, interval_of(terms));
  put(txn, next.burst, terms.burst);
}

std::optional<uint32_t> Pools::bring_up_to_date(Txn& txn, uint32_t from, int64_t now_ms) const {
  const ScheduleRoot& root = region_.root;
  const uint32_t high_water = root.pool_supply.high_water;
  const uint32_t end = std::min(high_water, from + kPoolsLookedAtMax);
  uint32_t changed = 0;
  for (uint32_t i = from; i < end; ++i) {
    Pool& pool = region_.pool(i);
    if (pool.used == 0) continue;
    if (changed++ == kChangedMax) return i;
    const int64_t interval = pool.terms.interval_ns;
    if (!is_defined(pool)) {
      clear(txn, pool.terms);
    } else if (pool.next.generation == root.rules_generation) {
      copy(txn, pool.terms, pool.next);
    }
    // Another rate begins with a full bucket: what was taken under the old one is paid.
    if (pool.terms.interval_ns != interval) put(txn, pool.full_at_ns, 0);
    add_leased(txn, i, 0, 0);
    fire(txn, i, now_ms);
  }
  if (end < high_water) return end;
  return std::nullopt;
}

std::optional<uint32_t> Pools::remove_old(Txn& txn, uint32_t from) const {
  ScheduleRoot& root = region_.root;
  const uint32_t high_water = root.pool_supply.high_water;
  const uint32_t end = std::min(high_water, from + kPoolsLookedAtMax);
  uint32_t removed = 0;
  for (uint32_t i = from; i < end; ++i) {
    Pool& pool = region_.pool(i);
    if (pool.used == 0 || is_defined(pool) || pool.members.count != 0) continue;
    if (removed++ == kChangedMax) return i;
    sets_.forget(txn, i);
    DelayHeap(region_).remove(txn, i | kTimerOfPool);
    index_.remove(txn, i, pool);
    text_remove(txn, region_, pool.name);
    put(txn, pool.used, 0);
    free_element(txn, root.pool_supply, pool, i);
  }
  if (end < high_water) return end;
  return std::nullopt;
}

}  // namespace fq
