// tenant - a node of the tenant tree: a queue of messages, or a ring of the nodes below it.
//
// A leaf's lane holds its ready messages. An inner node's lane is its ring: the seats of those children
// that can be served now, in the order of their turns (see core/schedule/rings/seats.h). Messages that were
// pushed to an inner node's own path lie in its self child, which has no name and no index place of its
// own: its path is its parent's. The root (node 0) is an inner node without name.
//
// Counts by state are of a node and all below it, so that a limit on a node is a look at one number; the root
// of the schedule has its own. Counters and histograms are of a node's own messages.
//
// Invariants
//  T1  A node sits in its parent's ring if and only if nothing blocks it and its lane is not empty.
//  T2  counts.x is the number of entries of this node and those below it in state x (the root's are in
//      ScheduleRoot); leases are never counted apart.
//  T3  children is the number of nodes whose parent this is, the self child included.
//  T4  No more is expected (expected_ticks) than what was charged for the runs below it that have not ended.
#pragma once

// fq, below us.
#include "core/base/limits.h"
// fq, this room.
#include "core/schedule/memory/layout.h"

namespace fq {

inline constexpr uint8_t kTenantUsed = 1;
inline constexpr uint8_t kTenantInner = 2;   // its lane is a ring of children
inline constexpr uint8_t kTenantInTree = 4;  // its seat lies in the tree of its parent's ring
inline constexpr uint8_t kTenantSeated = 8;
inline constexpr uint8_t kTenantLate = 16;  // its seat is in the past since its pool lacked room
inline constexpr uint8_t kTenantSelf = 32;  // holds the messages of its parent's own path

// Why a node is parked: all of them must be gone before it is served again.
inline constexpr uint8_t kBlockPaused = 1;
inline constexpr uint8_t kBlockLimited = 2;      // until a time
inline constexpr uint8_t kBlockConcurrency = 4;  // until one of its leases ends
inline constexpr uint8_t kBlockRate = 8;         // until its bucket has a token
inline constexpr uint8_t kBlockGather = 32;      // until its messages have gathered

inline constexpr uint32_t kNoCount = UINT32_MAX;

inline constexpr uint32_t kWeightDefault = 1000;  // in thousandths
inline constexpr uint32_t kWeightMin = 100;
inline constexpr uint32_t kWeightMax = 1'000'000;
inline constexpr uint32_t kDepthMax =
    kTenantLevelsMax + 2;                   // of the tree: the root above, a self child below
inline constexpr int64_t kIdleMs = 60'000;  // arbitrary; an idle tenant is forgotten after it

/// Messages by state.
template <uint32_t kOpens>
struct StateCounts {
  Shared<uint32_t, kOpens> ready, delayed, leased, held, dead;
};
/// The same as it is now.
struct CountsNow {
  template <uint32_t kOpens>
  explicit CountsNow(const StateCounts<kOpens>& counts)
      : ready(counts.ready),
        delayed(counts.delayed),
        leased(counts.leased),
        held(counts.held),
        dead(counts.dead) {}
  uint32_t ready, delayed, leased, held, dead;
};

/// The fields that change with each message, or with a turn below it: opened as a whole.
struct TenantFront {
  Lane lane;                       // leaf: ready messages; inner: seats of the children
  Shared<uint64_t> tag;            // when its next turn is, in its parent's virtual time
  Shared<uint64_t> sequence;       // among equal tags: in order of arrival
  Shared<uint64_t> vtime;          // inner: clock of its ring, see seats.h; leaf: expected_ticks
  Shared<uint64_t> joins;          // inner: sequences given out; leaf: since when its messages gather
  Shared<int64_t> used_ms;         // when nothing was ready or running any more
  Shared<uint64_t> payload_bytes;  // of all but dead ones, of it and all below it
  Shared<uint64_t> pushed, popped, acked;  // of a leaf; `popped` of an inner node: expected_ticks
  StateCounts<kNotOpened> counts;
  Shared<uint32_t> prev;       // in its parent's ring
  Shared<uint32_t> next;       // in its parent's ring
  Shared<uint32_t> served;     // lately, see service.h
  Shared<uint32_t> served_at;  // the time to which that is faded
  Shared<uint8_t> height;
  Shared<uint8_t> flags;   // kTenant...
  Shared<uint8_t> level;   // root 0
  Shared<uint8_t> blocks;  // kBlock...
};
static_assert(sizeof(TenantFront) == 128);  // two lines of a cache

struct Tenant : TenantFront {
  using Noted = TenantFront;
  Shared<uint64_t> hash;     // of its path
  Shared<int64_t> timer_ms;  // in the heap: parked until, or time to look whether it is idle
  Shared<uint32_t> retried, released, buried, expired, cancelled;  // at its most each of them stays
  Shared<uint32_t> parent;
  Shared<uint32_t> chain;  // next in its index bucket, or next free
  Shared<uint32_t> name;   // text of its whole path
  Shared<uint32_t> self;   // inner: its self child, or none
  Shared<uint32_t> children;
  Shared<uint32_t> heap_place;
  Shared<uint32_t> weight_milli;
  Shared<uint32_t> run_ticks;  // moving average of its runs, see costs.h; 0: none yet
  Shared<uint32_t> control;    // the policy of it, or none: see control.h
  Histogram wait;              // from ready to its first delivery
  Histogram run;               // from delivery to the end
};
static_assert(sizeof(Tenant) == 256);

/// What stands in its tag for runs that have not ended, see seats.h: in a word for which its kind has no other
/// use.
inline Shared<uint64_t>& expected_ticks(Tenant& tenant) {
  return (tenant.flags & kTenantInner) != 0 ? tenant.popped : tenant.vtime;
}
inline uint64_t expected_ticks(const Tenant& tenant) {
  return (tenant.flags & kTenantInner) != 0 ? tenant.popped : tenant.vtime;
}

/// Values of the policy; see node_values.h.
struct NodeValues {
  Shared<uint32_t> given;  // kGiven...: which of them there are
  Shared<uint32_t> weight_milli;
  Shared<uint32_t> concurrency;
  Shared<uint32_t> burst;
  Shared<uint32_t> rate_count;
  Shared<uint32_t> pool;  // text of its name
  Shared<int64_t> rate_span_ms;
  Shared<uint64_t> max_messages;
  Shared<uint64_t> max_bytes;
};

/// See control.h.
struct Control {
  NodeValues set;                    // at run time
  Shared<int64_t> limited_until_ms;  // kBlockLimited: then
  // The values that hold.
  Shared<int64_t> interval_ns;  // between two tokens; 0: no rate
  Shared<uint64_t> max_messages;
  Shared<uint64_t> max_bytes;
  Shared<uint32_t> concurrency;
  Shared<uint32_t> burst;
  Shared<uint32_t> pool;  // that it is a member of, or none
  Shared<uint32_t> zero;
  // How much of them is used up.
  Shared<int64_t> full_at_ns;  // boot time at which its bucket is full again
  Shared<uint32_t> node;       // whose it is
  Shared<uint32_t> chain;      // next free
};

/// See rules.h.
struct Rule {
  Shared<uint64_t> hash;   // of what every path begins with that the pattern takes in, and the generation
  Shared<uint32_t> chain;  // next in its index bucket, or next free
  Shared<uint32_t> next;   // with the same beginning
  Shared<uint32_t> generation;  // 0: free
  Shared<uint32_t> pattern;     // text
  Shared<uint32_t> rank;        // of two that say the same the higher one holds
  Shared<uint32_t> prefix_bytes;
  NodeValues values;
};

}  // namespace fq
