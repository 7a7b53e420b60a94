// local_tenants - what holds for tenants at run time: written down like a push, carried forward like a
// message.
#include "core/spool/local_queue.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/fault_point.h"
#include "core/base/tenant_name.h"

namespace fq {

namespace {

constexpr uint32_t kTimerTransactions = 32;
constexpr int kObstaclesMax = 64;

uint64_t record_bytes(const Body& body) { return padded(kRecordHeaderBytes + body.bytes.size()); }

}  // namespace

void LocalQueue::append_tenant(const TenantRecord& record) {
  Txn txn = store().begin();
  const Now now = gate().in_order(txn, gate().now());
  const uint64_t position = stream().append(txn, body_, MessageId{0}, now.wall_ms);
  gate().apply().tenant(txn, record, position, now.wall_ms);
  FQ_POINT("tenant.appended");
  txn.commit();
  stream().publish();
}

Result<void> LocalQueue::set_tenant(std::string_view tenant, const TenantPatch& patch) {
  if (const std::string_view fault = tenant_name_fault(tenant); !fault.empty()) {
    return Error{ErrorKind::usage, "tenant '" + std::string(tenant) + "': " + std::string(fault), 0};
  }
  if (!patch.limit_ms) return {};
  const Need need = Schedule::need_of(tenant, {});
  uint64_t end = 0;
  for (int attempt = 0;; ++attempt) {
    if (attempt == kObstaclesMax) return refuse_full();
    Obstacle obstacle = Obstacle::none;
    FQ_TRY(locked([&]() -> Result<void> {
      // Repeated in another segment after damage was met: what was appended has been carried over.
      if (end != 0) return {};
      const Now now = gate().now();
      gate().fire_timers(now, kTimerTransactions);
      if (*patch.limit_ms <= 0 && !schedule().find_tenant(tenant)) return {};
      TenantRecord record{tenant, 0};
      const int64_t limit_ms = std::min(*patch.limit_ms, INT64_MAX / 4);
      if (limit_ms > 0) record.limited_until_wall_ms = now.wall_ms + limit_ms;
      encode_tenant(body_, record);
      obstacle = push_obstacle(record_bytes(body_), need, 0, true);
      if (obstacle != Obstacle::none) return {};
      append_tenant(record);
      end = header().tail;
      gate().mark_servable();  // or a timer is earlier than before
      return {};
    }));
    if (obstacle == Obstacle::none) break;
    FQ_TRY(overcome(obstacle, need));
  }
  return end == 0 || syncs_lazily() ? Result<void>() : session_->flusher.wait_durable(end);
}

/// What holds is written down anew, so that the oldest file need not be kept for it.
Result<void> LocalQueue::carry_tenants() {
  std::vector<Schedule::Limit> limits;
  uint64_t from = 0;
  FQ_TRY(locked([&]() -> Result<void> {
    limits.clear();
    from = header().tail;
    const JournalSlot& oldest = stream().table().slot(header().oldest_file);
    const bool needed = header().tenant_record != 0 && header().tenant_record < oldest.end;
    if (!needed) from = 0;
    if (needed) limits = schedule().limits();
    return {};
  }));
  if (from == 0) return {};
  for (const Schedule::Limit& limit : limits) {
    const Need need = Schedule::need_of(limit.path, {});
    Obstacle obstacle = Obstacle::none;
    FQ_TRY(locked([&]() -> Result<void> {
      // Ended or changed meanwhile: that has a record of its own, or needs none.
      const std::optional<TenantIndex> node = schedule().find_tenant(limit.path);
      const bool holds = node && (schedule().tenant(*node).flags & kTenantParked) != 0 &&
                         schedule().tenant(*node).timer_ms == limit.until_ms;
      if (!holds) return {};
      const TenantRecord record{limit.path, store().wall_of(limit.until_ms)};
      encode_tenant(body_, record);
      obstacle = push_obstacle(record_bytes(body_), need, 0, true);
      if (obstacle == Obstacle::none) append_tenant(record);
      return {};
    }));
    // Another time: the file stays until then.
    if (obstacle != Obstacle::none) return overcome(obstacle, need);
  }
  return locked([&]() -> Result<void> {
    Txn txn = store().begin();
    txn.set(header().tenant_record, from);
    txn.commit();
    return {};
  });
}

}  // namespace fq
