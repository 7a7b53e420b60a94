// pool - a limit that nodes share: a number of leases at once, a rate, for all that lies below its members.
//
// A node that the policy puts into a pool keeps its seat in its parent's ring also while the pool has no
// room; it is passed over. So that passing over costs no walk, the seats in a ring's tree know which pools
// the messages ready below them need. A message may need several pools, one for each node on its path that is
// in one: that is a PoolSet, and a set has one bit of a word. A seat has the bits of the sets of the messages
// ready below it, a tree element those of its whole subtree, and the root of the schedule the bits of the
// sets that lack room. The first seat that can be served is then found on one way down. When a pool becomes
// full or free, one word changes, however many members it has; and since no seat was moved, the seat whose
// turn it was still has it.
//
// A Place holds this, and the ranks of scope = "queue" (ranks.h), for the tenant of the same index. All zero,
// it is that of a tenant that needs no pool; the array is there once a tenant has needed one, and has room
// for all tenants from then on.
//
// Invariants
//  P1  leased of a pool is the number of leases below its members, each counted once.
//  P2  A pool is blocked by kBlockConcurrency if and only if leased has reached concurrency.
//  P3  A seat has the bits of the sets of what is ready below it, a tree element those of its subtree.
//  P4  A bit of closed_sets is set if and only if a pool of that set is blocked.
//  P5  Members are in their pool's tree, ordered by their path.
//  P6  A member has the leases below it and below no other member in between; a tree element those of its
//      subtree.
#pragma once

// fq, this room.
#include "core/schedule/memory/layout.h"

namespace fq {

inline constexpr uint32_t kPoolSetsMax = 62;  // that have a bit of their own
// Bit 0: needs no pool. The last bit is shared by the sets that came when all others were taken: a seat that
// has it is looked at to find out whether it can be served.
inline constexpr uint64_t kNoPool = 1;
inline constexpr uint64_t kSomePools = uint64_t{1} << 63;

/// A member of a pool, in its tree. The members below it are a part of that tree, so that one look down says
/// how many of a node's leases its pool counts already: there is no walk over members.
struct Member {
  Shared<uint32_t> prev, next;
  Shared<uint32_t> node;    // whose it is
  Shared<uint32_t> leased;  // those it is the nearest member for
  Shared<uint32_t> below;   // in its subtree
  Shared<uint8_t> height;
  Shared<uint8_t> flags;
  Shared<uint16_t> zero;
};

struct Place {
  // With kNoPool the other way round, so that zero needs no pool.
  Shared<uint64_t> sets;   // of what is ready below it
  Shared<uint64_t> below;  // in its parent's ring, in the tree: of its subtree
  Member member;           // of its pool, if it has one: see Control::pool
  Shared<uint64_t> refund;  // of one that may be late: so far behind the clock its next turn may begin
  // See ranks.h.
  Shared<uint64_t> stamp;   // when it had its last turn by age
  Shared<uint32_t> ranks;   // as in the root: `first` is known
  Shared<uint32_t> first;   // slot of the message that goes first of all that are ready below it
  Shared<uint32_t> sums;    // as in the root: `best` and `oldest` are known
  Shared<uint32_t> best;    // in its parent's ring, in the tree: of its subtree, whose message goes first
  Shared<uint32_t> oldest;  // of its subtree, the one that waits longest for a turn by age
  Shared<uint32_t> turn_count;  // turns by rank that it was asked for since the last one by age
};
static_assert(sizeof(Place) == 80);

struct PoolTerms {
  Shared<uint32_t> generation;  // of the policy file that says so
  Shared<uint32_t> concurrency;
  Shared<int64_t> interval_ns;  // between two tokens; 0: no rate
  Shared<uint32_t> burst;
  Shared<uint32_t> zero;
};

struct Pool {
  PoolTerms terms;  // that hold
  PoolTerms next;   // of a file that is being loaded: they hold once its generation does
  Lane members;
  Shared<uint64_t> hash;  // of its name
  Shared<int64_t> full_at_ns;
  Shared<int64_t> timer_ms;  // in the heap: when it has a token
  Shared<uint32_t> heap_place;
  Shared<uint32_t> name;   // text
  Shared<uint32_t> chain;  // next in its index bucket, or next free
  Shared<uint32_t> leased;
  Shared<uint32_t> blocks;  // kBlockConcurrency, kBlockRate
  Shared<uint32_t> used;    // 0: free
};

/// The set of one bit: a pool, and the others that are needed besides.
struct PoolSet {
  Shared<uint32_t> pool_after;  // the pool's index and 1; 0: this bit is free
  Shared<uint32_t> rest;        // the bit of the set of the others; 0: none
};

}  // namespace fq
