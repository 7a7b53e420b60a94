// tenant - a node of the tenant tree: a queue of messages, or a ring of the nodes below it.
//
// A leaf's lane holds its ready messages. An inner node's lane is its ring: the seats of those children
// that can be served now, in the order of their turns (see core/schedule/seats.h). Messages that were
// pushed to an inner node's own path lie in its self child, which has no name and no index place of its
// own: its path is its parent's. The root (node 0) is an inner node without name.
//
// Counts and counters are of a node's own messages; those of an inner node stay zero.
//
// Invariants
//  T1  A node sits in its parent's ring if and only if it is not parked and its lane is not empty.
//  T2  counts.x is the number of entries of this node in state x; leases are never counted apart.
//  T3  children is the number of nodes whose parent this is, the self child included.
#pragma once

// fq, this room.
#include "core/schedule/layout.h"

namespace fq {

inline constexpr uint8_t kTenantUsed = 1;
inline constexpr uint8_t kTenantInner = 2;   // its lane is a ring of children
inline constexpr uint8_t kTenantInTree = 4;  // its seat lies in the tree of its parent's ring
inline constexpr uint8_t kTenantSeated = 8;
inline constexpr uint8_t kTenantParked = 16;
inline constexpr uint8_t kTenantSelf = 32;  // holds the messages of its parent's own path

inline constexpr uint32_t kWeightDefault = 1000;  // in thousandths
inline constexpr uint32_t kWeightMin = 100;
inline constexpr uint32_t kWeightMax = 1'000'000;
inline constexpr uint32_t kLevelsMax = 8;              // of a tenant's path
inline constexpr uint32_t kDepthMax = kLevelsMax + 2;  // of the tree: the root above, a self child below
inline constexpr int64_t kIdleMs = 60'000;             // arbitrary; an idle tenant is forgotten after it

/// Messages by state.
struct StateCounts {
  Shared<uint32_t> ready, delayed, leased, held, dead;
};

struct Tenant {
  Lane lane;                  // leaf: ready messages; inner: seats of the children
  Shared<uint64_t> tag;       // when its next turn is, in its parent's virtual time
  Shared<uint64_t> sequence;  // among equal tags: who came first
  Shared<uint64_t> vtime;     // inner: tag of the child served last
  Shared<uint64_t> joins;     // inner: sequences given out
  Shared<uint64_t> hash;      // of its path
  Shared<int64_t> timer_ms;   // in the heap: parked until, or time to look whether it is idle
  Shared<int64_t> used_ms;    // when its last message ended
  Shared<uint64_t> payload_bytes;
  Shared<uint64_t> pushed, popped, acked;
  Shared<uint32_t> retried, released, buried, expired, cancelled;
  StateCounts counts;
  Shared<uint32_t> parent;
  Shared<uint32_t> prev;   // in its parent's ring
  Shared<uint32_t> next;   // in its parent's ring
  Shared<uint32_t> chain;  // next in its index bucket, or next free
  Shared<uint32_t> name;   // text of its whole path
  Shared<uint32_t> self;   // inner: its self child, or none
  Shared<uint32_t> children;
  Shared<uint32_t> heap_place;
  Shared<uint32_t> weight_milli;
  Histogram wait;  // from ready to its first delivery
  Histogram run;   // from delivery to the end
  Shared<uint8_t> height;
  Shared<uint8_t> flags;  // kTenant...
  Shared<uint8_t> level;  // root 0
  Shared<uint8_t> zero;
};
static_assert(sizeof(Tenant) <= 256);

}  // namespace fq
