// local_policy - what holds: the policy file's layer, and what was set at run time, written down like a push
// and carried forward like a message.
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

Result<Settings> LocalQueue::settings() {
  Settings settings;
  FQ_TRY(locked([&]() -> Result<void> {
    settings = settings_of(header().settings);
    return {};
  }));
  return settings;
}

Result<bool> LocalQueue::policy_is_current(const FileIdentity& identity) {
  FileIdentity loaded;
  FQ_TRY(locked([&]() -> Result<void> {
    const SharedSettings& shared = header().settings;
    loaded = {shared.file_device, shared.file_inode, shared.file_size, shared.file_changed_ns,
              shared.file_modified_ns};
    return {};
  }));
  return loaded == identity;
}

Result<void> LocalQueue::policy_load(const Policy& policy, const FileIdentity& identity) {
  Settings settings;
  apply(settings, policy.queue);
  return locked([&]() -> Result<void> {
    SharedSettings& shared = header().settings;
    Txn txn = store().begin();
    store_settings(txn, shared, settings);
    txn.set(shared.file_device, identity.device);
    txn.set(shared.file_inode, identity.inode);
    txn.set(shared.file_size, identity.size);
    txn.set(shared.file_changed_ns, identity.changed_ns);
    txn.set(shared.file_modified_ns, identity.modified_ns);
    txn.commit();
    return {};
  });
}

void LocalQueue::append_policy(const PolicyRecord& record) {
  Txn txn = store().begin();
  const Now now = gate().in_order(txn, gate().now());
  const uint64_t position = stream().append(txn, body_, MessageId{0}, now.wall_ms);
  gate().apply().policy(txn, record, position, now.wall_ms);
  FQ_POINT("policy.appended");
  txn.commit();
  stream().publish();
}

Result<void> LocalQueue::policy_set(std::string_view tenant, const PolicyPatch& patch) {
  if (const std::string_view fault = tenant_name_fault(tenant); !fault.empty()) {
    return Error{ErrorKind::usage, "tenant '" + std::string(tenant) + "': " + std::string(fault), 0};
  }
  if (patch.set.empty() && patch.unset.empty()) return {};
  const int64_t patch_limit_ms = patch.set.empty() ? 0 : patch.set[0].number;
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
      if (patch_limit_ms <= 0 && !schedule().find_tenant(tenant)) return {};
      PolicyRecord record{tenant, {}};
      const int64_t limit_ms = std::min(patch_limit_ms, INT64_MAX / 4);
      if (limit_ms > 0) record.patch.set.push_back({PolicyKey::limited, now.wall_ms + limit_ms, 0, {}});
      if (limit_ms <= 0) record.patch.unset.push_back(PolicyKey::limited);
      encode_policy(body_, record);
      obstacle = push_obstacle(record_bytes(body_), need, 0, true);
      if (obstacle != Obstacle::none) return {};
      append_policy(record);
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
Result<void> LocalQueue::carry_policy() {
  std::vector<Schedule::Limit> limits;
  uint64_t from = 0;
  FQ_TRY(locked([&]() -> Result<void> {
    limits.clear();
    from = header().tail;
    const JournalSlot& oldest = stream().table().slot(header().oldest_file);
    const bool needed = header().policy_record != 0 && header().policy_record < oldest.end;
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
      const PolicyRecord record{limit.path,
                                {{{PolicyKey::limited, store().wall_of(limit.until_ms), 0, {}}}, {}}};
      encode_policy(body_, record);
      obstacle = push_obstacle(record_bytes(body_), need, 0, true);
      if (obstacle == Obstacle::none) append_policy(record);
      return {};
    }));
    // Another time: the file stays until then.
    if (obstacle != Obstacle::none) return overcome(obstacle, need);
  }
  return locked([&]() -> Result<void> {
    Txn txn = store().begin();
    txn.set(header().policy_record, from);
    txn.commit();
    return {};
  });
}

Result<OverridePage> LocalQueue::policy_overrides(const Cursor&, size_t) {
  OverridePage page;
  FQ_TRY(locked([&]() -> Result<void> {
    page.overrides.clear();
    const Now now = gate().now();
    for (const Schedule::Limit& limit : schedule().limits()) {
      page.overrides.push_back({limit.path, {{PolicyKey::limited, limit.until_ms - now.boot_ms, 0, {}}}});
    }
    return {};
  }));
  return page;
}

}  // namespace fq
