#include "core/local/policy/run_time_policy.h"

// System.
#include <algorithm>
#include <charconv>
// fq, below us.
#include "core/api/policy_checks.h"
#include "core/base/fault_point.h"
// fq, this room.
#include "core/local/write/pin_walk.h"
#include "core/local/shared/policy_layers.h"

namespace fq {

namespace {

// Under one hold of the lock: chosen.
constexpr size_t kSettingsPerLook = 64;
constexpr uint32_t kNodesPassedPerLook = 4096;

/// As the journal has it: a time that is told from now becomes a wall time, and the other way round.
void shift_limited(PolicyValues& values, int64_t by_ms) {
  for (PolicyValue& value : values) {
    if (value.key == PolicyKey::limited) value.number = std::min(value.number, kLatestMs) + by_ms;
  }
}

}  // namespace

Result<Settings> RunTimePolicy::settings() {
  Settings settings;
  FQ_TRY(locked([&]() -> Result<void> {
    settings = settings_of(header().settings);
    return {};
  }));
  return settings;
}

void RunTimePolicy::append(const PolicyRecord& record) {
  Change change(link_);
  const uint64_t position = change.append(Purpose::accept, body_);
  gate().apply().policy(change.txn(), record, position, change.now().wall_ms);
  FQ_POINT("policy.appended");
  change.commit();
}

Result<void> RunTimePolicy::set(std::string_view path, const PolicyPatch& patch) {
  FQ_TRY(check_patch(path, patch));
  if (patch.set.empty() && patch.unset.empty()) return {};
  const Need need = Growth::need_of_setting(path, node_patch(patch.set, patch.unset));
  uint64_t end = 0;
  PolicyRecord record{path, patch};
  FQ_TRY(writer_.write(
      [&]() -> Result<Obstacle> {
        // Repeated in another segment after damage was met: what was appended has been carried over.
        if (end != 0) return Obstacle::none;
        const Now now = gate().now();
        gate().fire_timers(now);
        // Nothing is set for a tenant that is not there, nor taken back.
        if (patch.set.empty() && !schedule().tenants().find(path)) return Obstacle::none;
        record.patch.set = patch.set;
        shift_limited(record.patch.set, now.wall_ms);
        encode_policy(body_, record);
        const Obstacle obstacle = writer_.room_for_push(record_bytes(body_), need, 0, true);
        if (obstacle != Obstacle::none) return obstacle;
        append(record);
        end = header().tail;
        gate().mark_servable();  // or a timer is earlier than before
        gate().mark_ended();     // or a limit is higher
        return Obstacle::none;
      },
      need));
  // Another scope may need room that nobody has made yet.
  if (path.empty()) FQ_TRY(policy_.change(Need{}, [](Txn&) {}));
  FQ_TRY(policy_.follow_terms());
  return end == 0 || syncs_lazily() ? Result<void>() : flusher().wait_durable(end);
}

/// Some of what was set at run time, from this node on, and where to go on; times are wall times. Needs: the
/// lock.
std::optional<TenantIndex> RunTimePolicy::scan_settings(TenantIndex from, size_t n,
                                                        std::vector<PolicyOverride>& found) {
  PolicyValues of_queue;
  if (from == kRootTenant) of_queue = run_time_values(header());
  const auto first = static_cast<uint32_t>(from);
  const uint32_t end = std::min(schedule().tenants().nodes_end(), first + kNodesPassedPerLook);
  std::optional<NodePolicy::Setting> each = schedule().policy().next_setting(from, end);
  if (!of_queue.empty() && (!each || each->node != kRootTenant)) found.push_back({"", of_queue});
  while (each && found.size() < n) {
    if (each->node == kRootTenant)
      each->values.insert(each->values.begin(), of_queue.begin(), of_queue.end());
    shift_limited(each->values, header().wall_minus_boot_ms);
    found.push_back({std::move(each->path), std::move(each->values)});
    each = schedule().policy().next_setting(TenantIndex{static_cast<uint32_t>(each->node) + 1}, end);
  }
  if (each) return each->node;
  if (end < schedule().tenants().nodes_end()) return TenantIndex{end};
  return std::nullopt;
}

Result<OverridePage> RunTimePolicy::overrides(const Cursor& from, size_t n) {
  OverridePage page;
  uint32_t first = 0;
  std::from_chars(from.text.data(), from.text.data() + from.text.size(), first);
  std::optional<TenantIndex> next = TenantIndex{first};
  while (next && page.overrides.empty()) {
    FQ_TRY(locked([&]() -> Result<void> {
      page = OverridePage();
      const Now now = gate().now();
      gate().fire_timers(now);
      next = scan_settings(TenantIndex{first}, std::clamp<size_t>(n, 1, kSettingsPerLook), page.overrides);
      for (PolicyOverride& each : page.overrides) shift_limited(each.values, -now.wall_ms);
      return {};
    }));
    if (next) first = static_cast<uint32_t>(*next);
  }
  if (next) page.next.text = std::to_string(first);
  return page;
}

/// Writes down anew what holds for the node where the walk is, or for the queue; true: nothing is in the way.
/// Needs: the lock.
Obstacle RunTimePolicy::carry_one(TenantIndex node) {
  std::optional<NodePolicy::Setting> setting = schedule().policy().setting_of(node);
  PolicyRecord record;
  if (node == kRootTenant) record.patch.set = run_time_values(header());
  if (setting) {
    record.path = setting->path;
    record.patch.set.insert(record.patch.set.end(), setting->values.begin(), setting->values.end());
  }
  Obstacle obstacle = Obstacle::none;
  if (!record.patch.set.empty()) {
    shift_limited(record.patch.set, header().wall_minus_boot_ms);
    encode_policy(carried_body_, record);
    obstacle = writer_.room_for(Purpose::care, record_bytes(carried_body_));
    if (obstacle != Obstacle::none) return obstacle;
  }
  Change change(link_);
  // It holds already, so it is not applied.
  if (!record.patch.set.empty())
    note_pin(change.txn(), header().run_time_settings, change.append(Purpose::care, carried_body_));
  change.txn().set(header().run_time_settings.walk_next, static_cast<uint32_t>(node) + 1);
  FQ_POINT("policy.carried");
  change.commit();
  return obstacle;
}

/// Needs: the lock, and that the walk has begun. Ends it at its end.
Obstacle RunTimePolicy::carry_some() {
  SegmentHeader& shared = header();
  const uint32_t end = shared.schedule.tenant_supply.high_water;
  uint32_t node = shared.run_time_settings.walk_next;
  for (size_t snapshot = 0, carried = 0; node < end; ++snapshot, ++node) {
    if (snapshot == kNodesPassedPerLook || carried == kSettingsPerLook) break;
    if (node != kRoot && !schedule().policy().setting_of(TenantIndex{node})) continue;
    const Obstacle obstacle = carry_one(TenantIndex{node});
    if (obstacle != Obstacle::none) return obstacle;
    ++carried;
  }
  Txn txn = store().begin();
  note_walked(txn, shared.run_time_settings, node, node >= end);
  txn.commit();
  return Obstacle::none;
}

}  // namespace fq
