#include "core/schedule/rings/blockers.h"

// fq, this room.
#include "core/schedule/rings/bucket.h"

namespace fq {

std::vector<Blocker> Blockers::all(uint32_t node) const {
  std::vector<Blocker> all;
  each(node, [&](const Blocker& blocker) { all.push_back(blocker); });
  return all;
}

Blocker Blockers::describe(Blocker::Kind kind, uint32_t node) const {
  const Tenant& tenant = region_.tenant(node);
  Blocker blocker{.kind = kind, .node = TenantIndex{node}};
  switch (kind) {
    case Blocker::Kind::paused:
      break;
    case Blocker::Kind::limited:
      blocker.until_ms = control_of(region_, tenant).limited_until_ms;
      break;
    case Blocker::Kind::concurrency:
      blocker.running = counts_of(region_, node).leased;
      blocker.limit = control_of(region_, tenant).concurrency;
      break;
    case Blocker::Kind::rate:
      blocker.interval_ns = control_of(region_, tenant).interval_ns;
      blocker.until_ms = bucket_of(control_of(region_, tenant)).token_at_ms();
      break;
    case Blocker::Kind::gathering:
      blocker.running = tenant.lane.count;
      blocker.limit = region_.root.terms.batch_max;
      blocker.until_ms = gathered_at_ms(region_, tenant);
      break;
    case Blocker::Kind::pool_concurrency:
      blocker.pool = pool_of(region_, tenant);
      blocker.running = region_.pool(blocker.pool).leased;
      blocker.limit = region_.pool(blocker.pool).terms.concurrency;
      break;
    case Blocker::Kind::pool_rate:
      blocker.pool = pool_of(region_, tenant);
      blocker.interval_ns = region_.pool(blocker.pool).terms.interval_ns;
      blocker.until_ms = bucket_of(region_.pool(blocker.pool)).token_at_ms();
      break;
  }
  return blocker;
}

}  // namespace fq
