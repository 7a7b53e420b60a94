#include "core/schedule/rings/pools.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/schedule/rings/bucket.h"
#include "core/schedule/order/delay_heap.h"
#include "core/schedule/memory/members.h"
#include "core/base/name_hash.h"
#include "core/schedule/rings/seats.h"

namespace fq {
namespace {

/// The pools that a path needs, each once, with its nearest member.
class PathPools {
 public:
  PathPools(const Region& region, uint32_t node) {
    for (StepLimit limit(kDepthMax); node != kRoot; limit.step()) {
      const Tenant& tenant = region.tenant(node);
      if (has_control(tenant)) add({control_of(region, tenant).pool, node});
      node = tenant.parent;
    }
  }
  struct Need {
    uint32_t pool;
    uint32_t member;
  };
  const Need* begin() const { return needs_; }
  const Need* end() const { return needs_ + count_; }

 private:
  void add(Need need) {
    const auto same = [&](const Need& other) { return other.pool == need.pool; };
    if (need.pool != kNoIndex && std::none_of(begin(), end(), same)) needs_[count_++] = need;
  }
  Need needs_[kDepthMax + 1];
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
  for (const auto& [pool, member] : PathPools(region_, leaf)) {
    const uint32_t leased = region_.place(member).member.leased;
    if (!more && leased == 0) region_damaged("a lease that its pool does not know");
    set_leased(txn, member, pool, more ? leased + 1 : leased - 1);
    add_leased(txn, pool, more ? 1 : 0, more ? 0 : 1);
  }
}

void Pools::started(Txn& txn, uint32_t leaf, int64_t now_ms) const {
  for (const auto& [i, member] : PathPools(region_, leaf)) {
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

uint32_t Pools::member_above(uint32_t node, uint32_t pool) const {
  for (StepLimit limit(kDepthMax); node != kRoot; limit.step()) {
    node = region_.tenant(node).parent;
    if (pool_of(region_, region_.tenant(node)) == pool) return node;
  }
  return kNoIndex;
}

/// Its leases that are below no member of this pool in between.
uint32_t Pools::nearest_of(uint32_t node, uint32_t pool) const {
  const Tenant& tenant = region_.tenant(node);
  const uint32_t leased = tenant.counts.leased;
  if (leased == 0 || !is_inner(tenant)) return leased;
  std::array<char, kTextBytesMax + 1> buffer;
  const size_t bytes = text_copy(region_, tenant.name, std::span(buffer).first<kTextBytesMax>()).size();
  buffer[bytes] = '/';
  const uint32_t of_others = LeasesBelow(region_, {buffer.data(), bytes + 1}).in(region_.pool(pool).members);
  if (of_others > leased) region_damaged("a node has fewer leases than those below it");
  return leased - of_others;
}

Opened<Lane> Pools::members_of(Txn& txn, uint32_t pool) const {
  return txn.open<kNotOpened>(region_.pool(pool).members);
}

void Pools::set_leased(Txn& txn, uint32_t member, uint32_t pool, uint32_t leased) const {
  put(txn, region_.place(member).member.leased, leased);
  MemberLane(MemberKind{&region_}).sum_changed(txn, region_.pool(pool).members, member);
}

void Pools::join(Txn& txn, uint32_t node, uint32_t pool) const {
  const uint32_t leased = nearest_of(node, pool);
  const uint32_t above = member_above(node, pool);
  if (above == kNoIndex) {
    add_leased(txn, pool, leased, 0);
  } else {
    const uint32_t had = region_.place(above).member.leased;
    if (leased > had) region_damaged("a member has fewer leases than are below it");
    set_leased(txn, above, pool, had - leased);
  }
  const Opened<Member> member = txn.open<kNotOpened>(region_.place(node).member);
  member.set(&Member::node, node);
  member.set(&Member::flags, 0);
  member.set(&Member::leased, leased);
  MemberLane(MemberKind{&region_}).insert(txn, members_of(txn, pool), node, member);
}

void Pools::leave(Txn& txn, uint32_t node, uint32_t pool) const {
  Member& member = region_.place(node).member;
  MemberLane(MemberKind{&region_}).remove(txn, members_of(txn, pool), node, txn.open<kNotOpened>(member));
  const uint32_t above = member_above(node, pool);
  if (above == kNoIndex) return add_leased(txn, pool, 0, member.leased);
  set_leased(txn, above, pool, region_.place(above).member.leased + member.leased);
}

void Pools::assign(Txn& txn, uint32_t node, uint32_t to) const {
  Control& control = control_of(region_, region_.tenant(node));
  const uint32_t from = control.pool;
  if (from == to) return;
  if (from != kNoIndex) leave(txn, node, from);
  if (to != kNoIndex) join(txn, node, to);
  put(txn, control.pool, to);
}

void Pools::move(Txn& txn, uint32_t from, uint32_t to) const {
  const uint32_t i = pool_of(region_, region_.tenant(from));
  if (i == kNoIndex) return;
  const MemberLane lane(MemberKind{&region_});
  const Opened<Lane> members = members_of(txn, i);
  lane.remove(txn, members, from, txn.open<kNotOpened>(region_.place(from).member));
  const Opened<Member> member = txn.open<kNotOpened>(region_.place(to).member);
  member.set(&Member::node, to);
  member.set(&Member::flags, 0);
  member.set(&Member::leased, region_.place(from).member.leased);
  lane.insert(txn, members, to, member);
}

}  // namespace fq
