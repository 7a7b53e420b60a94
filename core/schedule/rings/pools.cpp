#include "core/schedule/rings/pools.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/schedule/rings/bucket.h"
#include "core/schedule/order/delay_heap.h"
#include "core/schedule/memory/members.h"
#include "core/schedule/memory/name_hash.h"
#include "core/schedule/rings/seats.h"

namespace fq {
namespace {

/// The pools that a path needs, each once.
class PathPools {
 public:
  PathPools(const Region& region, uint32_t node) {
    for (StepLimit limit(kDepthMax); node != kRoot; limit.step()) {
      const Tenant& tenant = region.tenant(node);
      if (has_control(tenant)) add(control_of(region, tenant).pool);
      node = tenant.parent;
    }
  }
  const uint32_t* begin() const { return pools_; }
  const uint32_t* end() const { return pools_ + count_; }

 private:
  void add(uint32_t pool) {
    if (pool != kNoIndex && std::find(begin(), end(), pool) == end()) pools_[count_++] = pool;
  }
  uint32_t pools_[kDepthMax + 1];
  uint32_t count_ = 0;
};

}  // namespace

bool Pools::is_defined(const Pool& pool) const {
  const uint32_t generation = region_.root.rules_generation;
  return generation != 0 && (pool.terms.generation == generation || pool.next.generation == generation);
}

uint32_t Pools::find(std::string_view name) const {
  const ScheduleRoot& root = region_.root;
  if (root.pool_bucket_count == 0) return kNoIndex;
  const uint64_t hash = hash_name(root.hash_key[0], root.hash_key[1], name);
  return index_.find(
      hash, [&](const Pool& pool) { return pool.hash == hash && text_equals(region_, pool.name, name); });
}

uint32_t Pools::find(uint32_t name) const {
  if (!any()) return kNoIndex;
  std::array<char, kTextBytesMax> buffer;
  const uint32_t found = find(text_copy(region_, name, buffer));
  return found != kNoIndex && is_defined(region_.pool(found)) ? found : kNoIndex;
}

void Pools::set_block(Txn& txn, uint32_t i, uint32_t reason, bool on) const {
  Pool& pool = region_.pool(i);
  const uint32_t before = pool.blocks;
  const uint32_t after = on ? before | reason : before & ~reason;
  if (after == before) return;
  put(txn, pool.blocks, after);
  if ((before == 0) != (after == 0)) sets_.note_change(txn);
}

void Pools::add_leased(Txn& txn, uint32_t i, uint32_t more, uint32_t less) const {
  Pool& pool = region_.pool(i);
  if (more != 0) add_to(txn, pool.leased, more);
  if (less != 0) take_from(txn, pool.leased, less);
  set_block(txn, i, kBlockConcurrency, pool.leased >= pool.terms.concurrency);
}

void Pools::count(Txn& txn, uint32_t leaf, bool more) const {
  for (const uint32_t pool : PathPools(region_, leaf)) add_leased(txn, pool, more ? 1 : 0, more ? 0 : 1);
}

void Pools::started(Txn& txn, uint32_t leaf, int64_t now_ms) const {
  for (const uint32_t i : PathPools(region_, leaf)) {
    Pool& pool = region_.pool(i);
    if (pool.terms.interval_ns == 0) continue;
    put(txn, pool.full_at_ns, bucket_of(pool).full_after_one_ns(now_ms));
    if (bucket_of(pool).token_at_ms() <= now_ms) continue;
    set_block(txn, i, kBlockRate, true);
    set_timer(txn, i);
  }
}

void Pools::set_timer(Txn& txn, uint32_t i) const {
  Pool& pool = region_.pool(i);
  const DelayHeap heap(region_);
  const bool waits = (pool.blocks & kBlockRate) != 0;
  const int64_t at_ms = waits ? bucket_of(pool).token_at_ms() : kNever;
  if (waits && pool.heap_place != kNoIndex && pool.timer_ms == at_ms) return;
  heap.remove(txn, i | kTimerOfPool);
  if (!waits) return;
  put(txn, pool.timer_ms, at_ms);
  heap.insert(txn, i | kTimerOfPool);
}

void Pools::fire(Txn& txn, uint32_t i, int64_t now_ms) const {
  set_block(txn, i, kBlockRate, bucket_of(region_.pool(i)).token_at_ms() > now_ms);
  set_timer(txn, i);
}

// ---- members ---------------------------------------------------------------------------------------

/// A node between it and `below` (neither included) is in this pool too.
bool Pools::is_covered(uint32_t node, uint32_t pool, uint32_t below) const {
  StepLimit limit(kDepthMax);
  for (;; limit.step()) {
    if (node == kRoot) return false;
    node = region_.tenant(node).parent;
    if (node == below) return false;
    if (pool_of(region_, region_.tenant(node)) == pool) return true;
  }
}

/// Of its leases those that would not count without it. Needs: it is not a member now.
uint32_t Pools::leased_by_it_alone(uint32_t node, uint32_t pool) const {
  const Tenant& tenant = region_.tenant(node);
  if (is_covered(node, pool, kNoIndex)) return 0;
  uint32_t leased = tenant.counts.leased;
  if (leased == 0 || !is_inner(tenant)) return leased;
  std::array<char, kTextBytesMax + 1> buffer;
  const size_t bytes = text_copy(region_, tenant.name, std::span(buffer).first<kTextBytesMax>()).size();
  buffer[bytes] = '/';
  const std::string_view prefix(buffer.data(), bytes + 1);
  visit_members(region_, region_.pool(pool).members.root, prefix, [&](uint32_t member) {
    const uint32_t theirs = is_covered(member, pool, node) ? 0 : region_.tenant(member).counts.leased.get();
    if (theirs > leased) region_damaged("a node has fewer leases than those below it");
    leased -= theirs;
  });
  return leased;
}

void Pools::assign(Txn& txn, uint32_t node, uint32_t to) const {
  Control& control = control_of(region_, region_.tenant(node));
  const uint32_t from = control.pool;
  if (from == to) return;
  const MemberLane lane(MemberKind{&region_});
  Member* member = &region_.place(node).member;
  if (from != kNoIndex) {
    lane.remove(txn, region_.pool(from).members, node, *member);
    put(txn, control.pool, kNoIndex);
    add_leased(txn, from, 0, leased_by_it_alone(node, from));
  }
  if (to != kNoIndex) {
    add_leased(txn, to, leased_by_it_alone(node, to), 0);
    put(txn, control.pool, to);
    put(txn, member->node, node);
    put(txn, member->flags, 0);
    lane.insert(txn, region_.pool(to).members, node, *member);
  }
}

void Pools::move(Txn& txn, uint32_t from, uint32_t to) const {
  const uint32_t i = pool_of(region_, region_.tenant(from));
  if (i == kNoIndex) return;
  const MemberLane lane(MemberKind{&region_});
  Pool& pool = region_.pool(i);
  lane.remove(txn, pool.members, from, region_.place(from).member);
  Member& member = region_.place(to).member;
  put(txn, member.node, to);
  put(txn, member.flags, 0);
  lane.insert(txn, pool.members, to, member);
}

}  // namespace fq
