// node_policy - see node_policy.h.
#include "core/schedule/node_policy.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/schedule/rings/bucket.h"
#include "core/schedule/tree/tenant_tree.h"
#include "core/schedule/memory/text_pool.h"

namespace fq {
namespace {

// A transaction ends when one more node (a control taken, a seat in each of eight levels) might not fit.
constexpr uint32_t kStoresMax = 2048;
constexpr uint32_t kNodesMax = 256;         // looked at in one go
constexpr uint32_t kFollowStoresMax = 512;  // beside others in one transaction

PolicyValue number_of(PolicyKey key, uint64_t number) {
  const bool unlimited = number > static_cast<uint64_t>(kUnlimited);
  return {key, unlimited ? kUnlimited : static_cast<int64_t>(number), 0, {}};
}
uint64_t wide(uint32_t count) { return count == kNoCount ? UINT64_MAX : count; }

PolicyValues values_of(const Region& region, const Control& control) {
  const NodeValues& set = control.set;
  PolicyValues values;
  const auto given = [&](uint32_t bit) { return (set.given & bit) != 0; };
  if (given(kGivenWeight)) values.push_back(number_of(PolicyKey::weight, set.weight_milli));
  if (given(kGivenConcurrency)) values.push_back(number_of(PolicyKey::concurrency, wide(set.concurrency)));
  if (given(kGivenRate)) {
    const uint64_t count = set.rate_count == 0 ? UINT64_MAX : uint64_t{set.rate_count};
    values.push_back(number_of(PolicyKey::rate, count));
    values.back().second = set.rate_span_ms;
  }
  if (given(kGivenBurst)) values.push_back(number_of(PolicyKey::burst, wide(set.burst)));
  if (given(kGivenMaxMessages)) values.push_back(number_of(PolicyKey::max_messages, set.max_messages));
  if (given(kGivenMaxBytes)) values.push_back(number_of(PolicyKey::max_bytes, set.max_bytes));
  if (given(kGivenPool)) values.push_back({PolicyKey::pool, 0, 0, text_of(region, set.pool)});
  if (given(kGivenPaused)) values.push_back(number_of(PolicyKey::paused, 1));
  if (given(kGivenLimited)) values.push_back({PolicyKey::limited, control.limited_until_ms, 0, {}});
  return values;
}

}  // namespace

void NodePolicy::set(Txn& txn, std::string_view path, const NodePatch& patch, int64_t now_ms) const {
  const TenantTree tree(region_);
  uint32_t node = tree.find(path);
  const bool ends =
      patch.set.given == 0 || (patch.set.given == kGivenLimited && patch.limited_until_ms <= now_ms);
  if (node == kNoIndex && ends) return;
  if (node == kNoIndex) node = tree.leaf_of(txn, path);
  tree.set(txn, node, patch, now_ms);
}

bool NodePolicy::is_any_bucket_filling(int64_t now_ms) const {
  const ScheduleRoot& root = region_.root;
  const auto fills = [&](const auto& limited) { return limited.full_at_ns > now_ms * kNsPerMs; };
  for (uint32_t i = 0; i < root.pool_supply.high_water; ++i) {
    if (fills(region_.pool(i))) return true;
  }
  for (uint32_t i = 0; i < root.tenant_supply.high_water; ++i) {
    const Tenant& tenant = region_.tenant(i);
    if (is_used(tenant) && has_control(tenant) && fills(control_of(region_, tenant))) return true;
  }
  return false;
}

std::optional<NodePolicy::Setting> NodePolicy::setting_of(TenantIndex node) const {
  const auto index = static_cast<uint32_t>(node);
  const Tenant& at = region_.tenant(index);
  if (!is_used(at) || !Limits(region_).is_set(at)) return std::nullopt;
  return Setting{node, TenantTree(region_).path_of(index), values_of(region_, control_of(region_, at))};
}

std::optional<NodePolicy::Setting> NodePolicy::next_setting(TenantIndex from, uint32_t end) const {
  // Nodes without a control are passed over; where there are none at all, so are all nodes.
  if (region_.root.control_supply.used == 0) return std::nullopt;
  for (auto i = static_cast<uint32_t>(from); i < end; ++i) {
    if (std::optional<Setting> found = setting_of(TenantIndex{i})) return found;
  }
  return std::nullopt;
}

NodePolicy::Holding NodePolicy::holding_of(std::string_view path) const {
  const uint32_t node = TenantTree(region_).find(path);
  Holding holding;
  if (node == kNoIndex) {
    const NodeTerms terms = Rules(region_).terms_of(path);
    holding.messages_max = terms.max_messages;
    holding.bytes_max = terms.max_bytes;
    return holding;
  }
  const CountsNow counts = counts_of(region_, node);
  holding.messages = uint64_t{counts.ready} + counts.delayed + counts.leased + counts.held;
  const ScheduleRoot& root = region_.root;
  holding.bytes =
      path.empty() ? root.payload_bytes - root.dead_bytes : region_.tenant(node).payload_bytes.get();
  if (!has_control(region_.tenant(node))) return holding;
  const Control& control = control_of(region_, region_.tenant(node));
  holding.messages_max = control.max_messages;
  holding.bytes_max = control.max_bytes;
  return holding;
}

uint32_t NodePolicy::rules_end() const {
  return std::max<uint32_t>(region_.root.rule_supply.high_water, region_.root.pool_supply.high_water);
}

uint32_t NodePolicy::new_rules(const RuleSummary& summary) const {
  const uint32_t holds = region_.root.rules_generation;
  return std::max({holds, summary.generation, summary.generation_of_pools}) + 1;
}

std::optional<TenantIndex> NodePolicy::bring_up_to_date(Txn& txn, TenantIndex from, int64_t now_ms) const {
  const TenantTree tree(region_);
  auto i = static_cast<uint32_t>(from);
  const uint32_t end = std::min<uint32_t>(region_.root.tenant_supply.high_water, i + kNodesMax);
  for (; i < end && txn.noted() < kStoresMax; ++i) {
    if (!is_used(region_.tenant(i))) continue;
    tree.bring_up_to_date(txn, i, now_ms);
    tree.note_idle(txn, i, now_ms);
  }
  if (i >= region_.root.tenant_supply.high_water) return std::nullopt;
  return TenantIndex{i};
}

void NodePolicy::follow_terms(Txn& txn, int64_t now_ms) const {
  SharedTerms& terms = region_.root.terms;
  const Seats seats(region_);
  const Gathering gathering(region_);
  uint32_t i = nodes_behind(region_.root);
  const uint32_t high_water = region_.root.tenant_supply.high_water;
  const uint32_t end = std::min<uint32_t>(high_water, i + kNodesMax);
  const uint32_t noted_before = txn.noted();
  for (; i < end && txn.noted() - noted_before < kFollowStoresMax; ++i) {
    if (!is_used(region_.tenant(i))) continue;
    if (terms.other_cost != 0) seats.even_out(txn, i);
    if (terms.other_groups != 0) gathering.look_again(txn, i, now_ms);
    if (is_ranked(region_.root)) {
      seats.reseat(txn, i);
    } else {
      seats.forget_rank(txn, i);
    }
  }
  const bool done = i >= high_water;
  if (done) put(txn, terms.other_cost, 0);
  if (done) put(txn, terms.other_groups, 0);
  put(txn, terms.next_node, done ? kNoIndex : i);
}

}  // namespace fq
