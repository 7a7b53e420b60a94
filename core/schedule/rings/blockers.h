// blockers - the reasons why messages below a node are not served: one walk that decides and explains.
//
// A node is blocked if and only if this walk finds something, so the reason that it tells is the one that
// decides. A node that is not blocked has its turn in its order (see seats.h and look/preview.h).
#pragma once

// System.
#include <vector>
// fq, this room.
#include "core/schedule/rings/control.h"
#include "core/schedule/rings/pools.h"
#include "core/schedule/rings/seats.h"

namespace fq {

struct Blocker {
  enum class Kind : uint8_t {
    paused,
    limited,           // until a time
    concurrency,       // until one of its leases ends
    rate,              // until its bucket has a token
    gathering,         // until its window is over or its group full
    pool_concurrency,  // the same of a pool that it is in
    pool_rate,
  };
  Kind kind{};
  TenantIndex node{};  // that has the limit, or is in the pool
  uint32_t pool = kNoIndex;
  uint64_t running = 0, limit = 0;  // concurrency; gathering: gathered, and of so many
  int64_t interval_ns = 0;          // rate: between two tokens
  int64_t until_ms = kNever;
};

class Blockers {
 public:
  explicit Blockers(const Region& region) : region_(region), pools_(region) {}

  /// Something keeps all that lies below this node from being served.
  bool any(uint32_t node) const {
    return walk(node, [](Blocker::Kind, uint32_t) { return true; });
  }
  /// Each of them, from the node upwards.
  std::vector<Blocker> all(uint32_t node) const;
  /// The same, one by one, without allocating.
  template <class F>
  void each(uint32_t node, F&& found) const {
    walk(node, [&](Blocker::Kind kind, uint32_t i) {
      found(describe(kind, i));
      return false;
    });
  }

 private:
  /// Calls `found(kind, node)` until it returns true; whether it did.
  template <class F>
  bool walk(uint32_t i, F&& found) const {
    StepLimit limit(kDepthMax);
    for (;; limit.step()) {
      const Tenant& tenant = region_.tenant(i);
      if (is_parked(tenant) && find_blocks(tenant.blocks, i, found)) return true;
      if (pools_.has_full_pool(tenant) && find_full(tenant, i, found)) return true;
      if (i == static_cast<uint32_t>(kRootTenant)) return false;
      i = tenant.parent;
    }
  }
  template <class F>
  bool find_blocks(uint8_t blocks, uint32_t i, F&& found) const {
    return ((blocks & kBlockPaused) != 0 && found(Blocker::Kind::paused, i)) ||
           ((blocks & kBlockLimited) != 0 && found(Blocker::Kind::limited, i)) ||
           ((blocks & kBlockConcurrency) != 0 && found(Blocker::Kind::concurrency, i)) ||
           ((blocks & kBlockRate) != 0 && found(Blocker::Kind::rate, i)) ||
           ((blocks & kBlockGather) != 0 && found(Blocker::Kind::gathering, i));
  }
  template <class F>
  bool find_full(const Tenant& tenant, uint32_t i, F&& found) const {
    const uint32_t blocks = region_.pool(pool_of(region_, tenant)).blocks;
    return ((blocks & kBlockConcurrency) != 0 && found(Blocker::Kind::pool_concurrency, i)) ||
           ((blocks & kBlockRate) != 0 && found(Blocker::Kind::pool_rate, i));
  }
  Blocker describe(Blocker::Kind kind, uint32_t node) const;

  const Region& region_;
  Pools pools_;
};

}  // namespace fq
