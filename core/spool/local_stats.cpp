// local_stats - counts of the queue and of its tenants.
#include "core/spool/local_queue.h"

// System.
#include <algorithm>
#include <map>
#include <set>
// fq, below us.
#include "core/schedule/histogram.h"

namespace fq {

namespace {

constexpr size_t kTenantsPerLook = 256;  // rows made under one hold of the lock

/// Sums of the weights of those who sit in each ring (by the node that the ring belongs to).
struct RingWeights {
  std::map<uint32_t, uint64_t> of_ring;
  std::set<uint32_t> counted;
};

template <class AnyHistogram>
Percentiles percentiles_of(const AnyHistogram& histogram, uint64_t count) {
  Percentiles result;
  result.count = count;
  const auto part = [&](double p) {
    const std::optional<uint64_t> ms = histogram_percentile_ms(histogram, p);
    return ms ? std::optional<int64_t>(static_cast<int64_t>(*ms)) : std::nullopt;
  };
  result.p50 = part(0.5);
  result.p90 = part(0.9);
  result.p99 = part(0.99);
  if (result.p50) result.max = static_cast<int64_t>(histogram.max_ms.get());
  return result;
}

template <class AnyHistogram>
uint64_t sum_of(const AnyHistogram& histogram) {
  uint64_t sum = 0;
  for (const auto& bucket : histogram.bucket) sum += bucket.get();
  return sum;
}

template <class Counters>
void put_counts(StatsRow& row, const StateCounts& counts, const Counters& counters) {
  row.ready = counts.ready;
  row.delayed = counts.delayed;
  row.leased = counts.leased;
  row.held = counts.held;
  row.dead = counts.dead;
  row.pushed = counters.pushed;
  row.popped = counters.popped;
  row.acked = counters.acked;
  row.retried = counters.retried;
  row.released = counters.released;
  row.buried = counters.buried;
  row.expired = counters.expired;
  row.cancelled = counters.cancelled;
}

bool waits_for_pool(const Schedule& schedule, TenantIndex leaf) {
  return schedule.tenant(leaf).lane.count != 0 && schedule.lacks_room(leaf);
}

/// Adds the weights of the node and of those above it to their rings, each node once.
void add_weights(const Schedule& schedule, TenantIndex index, RingWeights& weights) {
  if (schedule.lacks_room(index)) return;
  for (TenantIndex node = index; node != kRootTenant;
       node = TenantIndex{schedule.tenant(node).parent.get()}) {
    const Tenant& tenant = schedule.tenant(node);
    if ((tenant.flags & kTenantSeated) == 0) return;
    if (!weights.counted.insert(static_cast<uint32_t>(node)).second) return;
    weights.of_ring[tenant.parent] += tenant.weight_milli;
  }
}

/// The part of all turns that this tenant gets while those that are active now stay so: its weight's share
/// at each level of its path.
double share_of(const Schedule& schedule, TenantIndex index, const RingWeights& weights) {
  if (schedule.lacks_room(index)) return 0.0;
  double share = 1.0;
  for (TenantIndex node = index; node != kRootTenant;
       node = TenantIndex{schedule.tenant(node).parent.get()}) {
    const Tenant& tenant = schedule.tenant(node);
    const auto ring = weights.of_ring.find(tenant.parent);
    if ((tenant.flags & kTenantSeated) == 0 || ring == weights.of_ring.end()) return 0.0;
    // A tenant that became active since the weights were summed has more than all of them.
    share *= std::min(1.0, tenant.weight_milli / static_cast<double>(ring->second));
  }
  return share;
}

}  // namespace

Result<StatsReply> LocalQueue::stats(const StatsRequest& request) {
  StatsReply reply;
  if (request.tenants || !request.tenant.empty()) {
    FQ_TRY(tenant_rows(request, reply));
    return reply;
  }
  StatsRow row;
  FQ_TRY(locked([&]() -> Result<void> {
    row = StatsRow();
    const Now now = gate().now();
    gate().fire_timers(now, 32);
    const ScheduleRoot& root = schedule().root();
    put_counts(row, root.counts, root.counters);
    row.tenants = root.tenants_count;
    row.active_tenants = root.active_count;
    row.parked_tenants = root.parked_count;
    row.bytes = root.payload_bytes - root.dead_bytes;
    row.wait_ms = percentiles_of(root.wait, sum_of(root.wait));
    row.run_ms = percentiles_of(root.run, sum_of(root.run));
    row.segment_bytes = header().segment_bytes;
    row.journal_bytes = stream().table().journal_bytes();
    row.recoveries = root.counters.recoveries;
    reply.as_of_wall_ms = now.wall_ms;
    return {};
  }));
  FQ_TRY(add_oldest(row));
  reply.rows.push_back(std::move(row));
  return reply;
}

/// Calls `visit` for every tenant that has messages of its own, a part of them under each hold of the lock.
Result<void> LocalQueue::walk_tenants(const std::function<void(TenantIndex leaf, const Now& now)>& visit) {
  uint32_t next = 0;
  for (bool more = true; more;) {
    FQ_TRY(locked([&]() -> Result<void> {
      const Now now = gate().now();
      gate().fire_timers(now, 32);
      std::optional<TenantIndex> leaf = schedule().next_leaf(TenantIndex{next});
      for (size_t i = 0; leaf && i < kTenantsPerLook; ++i) {
        visit(*leaf, now);
        leaf = schedule().next_leaf(TenantIndex{static_cast<uint32_t>(*leaf) + 1});
      }
      more = leaf.has_value();
      if (leaf) next = static_cast<uint32_t>(*leaf);
      return {};
    }));
  }
  return {};
}

Result<void> LocalQueue::add_oldest(StatsRow& row) {
  int64_t oldest_ms = kNever;
  int64_t now_ms = 0;
  FQ_TRY(walk_tenants([&](TenantIndex leaf, const Now& now) {
    if (schedule().tenant(leaf).blocks == 0 && waits_for_pool(schedule(), leaf)) ++row.parked_tenants;
    oldest_ms = std::min(oldest_ms, oldest_in(leaf));
    now_ms = now.boot_ms;
  }));
  if (oldest_ms != kNever)
    row.oldest_ready_s = static_cast<double>(std::max<int64_t>(0, now_ms - oldest_ms)) / 1000.0;
  return {};
}

int64_t LocalQueue::oldest_in(TenantIndex leaf) {
  // The next in line waits longest, unless priorities hold another back, and those who set them mean that.
  const std::optional<SlotIndex> first = schedule().first_ready(leaf);
  return first ? schedule().entry(*first).at_ms.get() : kNever;
}

Result<void> LocalQueue::tenant_rows(const StatsRequest& request, StatsReply& reply) {
  RingWeights weights;
  FQ_TRY(walk_tenants([&](TenantIndex leaf, const Now&) { add_weights(schedule(), leaf, weights); }));
  FQ_TRY(walk_tenants([&](TenantIndex leaf, const Now& now) {
    reply.as_of_wall_ms = now.wall_ms;
    std::optional<TenantIndex> below = kRootTenant;
    if (!request.tenant.empty()) below = schedule().find_tenant(request.tenant);
    if (!below || !schedule().is_below(leaf, *below)) return;
    StatsRow row = tenant_row(leaf, now);
    row.share = share_of(schedule(), leaf, weights);
    reply.rows.push_back(std::move(row));
  }));
  std::sort(reply.rows.begin(), reply.rows.end(),
            [](const StatsRow& a, const StatsRow& b) { return a.tenant < b.tenant; });
  return {};
}

StatsRow LocalQueue::tenant_row(TenantIndex index, const Now& now) {
  const Tenant& tenant = schedule().tenant(index);
  StatsRow row;
  row.tenant = schedule().path_of(index);
  put_counts(row, tenant.counts, tenant);
  row.tenants = 1;
  row.active_tenants = tenant.counts.ready > 0 ? 1 : 0;
  row.parked_tenants = tenant.blocks != 0 || waits_for_pool(schedule(), index) ? 1 : 0;
  row.bytes = tenant.payload_bytes;
  row.wait_ms = percentiles_of(tenant.wait, sum_of(tenant.wait));
  row.run_ms = percentiles_of(tenant.run, sum_of(tenant.run));
  row.weight = tenant.weight_milli / 1000.0;
  const int64_t oldest_ms = oldest_in(index);
  if (oldest_ms != kNever) {
    row.oldest_ready_s = static_cast<double>(std::max<int64_t>(0, now.boot_ms - oldest_ms)) / 1000.0;
  }
  return row;
}

}  // namespace fq
