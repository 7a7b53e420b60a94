#include "core/schedule/rings/limits.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/schedule/rings/bucket.h"
#include "core/schedule/order/delay_heap.h"
#include "core/schedule/memory/text_pool.h"

namespace fq {
namespace {

int64_t token_at_ms(const Control& control) { return bucket_of(control).token_at_ms(); }

/// The one way in which what is set at run time changes: what it takes in the journal is counted with it.
template <class Change>
void change_setting(Txn& txn, const Region& region, const Control& control, Change&& change) {
  const uint64_t before = setting_bytes_of(region, control);
  change();
  const uint64_t after = setting_bytes_of(region, control);
  if (after != before) put(txn, region.root.setting_bytes, region.root.setting_bytes - before + after);
}

void end_limited(Txn& txn, const Region& region, Control& control) {
  change_setting(txn, region, control,
                 [&] { put(txn, control.set.given, control.set.given & ~kGivenLimited); });
}

void take_over(Txn& txn, NodeValues& to, const NodeTerms& from, uint32_t bits) {
  visit_values(to, from, [&](uint32_t bit, auto& field, const auto& value) {
    if ((bits & bit) != 0) put(txn, field, value);
  });
}

}  // namespace

bool Limits::is_at_concurrency(uint32_t i, const Control& control) const {
  return counts_of(region_, i).leased >= control.concurrency;
}

void Limits::started(Txn& txn, uint32_t leaf, int64_t now_ms) const {
  if (pools_.any()) pools_.started(txn, leaf, now_ms);
  if (region_.root.control_supply.used == 0) return;
  StepLimit limit(kDepthMax);
  for (uint32_t i = leaf;; i = region_.tenant(i).parent) {
    const Tenant& tenant = region_.tenant(i);
    if (has_control(tenant)) {
      Control& control = control_of(region_, tenant);
      put(txn, control.full_at_ns, bucket_of(control).full_after_one_ns(now_ms));
      const bool no_token = token_at_ms(control) > now_ms;
      if (is_at_concurrency(i, control)) seats_.block(txn, i, kBlockConcurrency, true);
      if (no_token) seats_.block(txn, i, kBlockRate, true);
      if (no_token) set_timer(txn, i);
    }
    if (i == kRoot) return;
    limit.step();
  }
}

void Limits::ended(Txn& txn, uint32_t leaf) const {
  if (region_.root.control_supply.used == 0) return;
  StepLimit limit(kDepthMax);
  for (uint32_t i = leaf;; i = region_.tenant(i).parent) {
    const Tenant& tenant = region_.tenant(i);
    const bool waits = (tenant.blocks & kBlockConcurrency) != 0;
    if (waits && !is_at_concurrency(i, control_of(region_, tenant))) {
      seats_.block(txn, i, kBlockConcurrency, false);
    }
    if (i == kRoot) return;
    limit.step();
  }
}

void Limits::fire(Txn& txn, uint32_t i, int64_t now_ms) const {
  const Tenant& tenant = region_.tenant(i);
  if (has_control(tenant)) {
    Control& control = control_of(region_, tenant);
    const bool limited = (tenant.blocks & kBlockLimited) != 0;
    if (limited && control.limited_until_ms <= now_ms) {
      end_limited(txn, region_, control);
      seats_.block(txn, i, kBlockLimited, false);
    }
    if (token_at_ms(control) <= now_ms) seats_.block(txn, i, kBlockRate, false);
  }
  set_timer(txn, i);
}

void Limits::set_timer(Txn& txn, uint32_t i) const {
  Tenant& tenant = region_.tenant(i);
  int64_t at_ms = kNever;
  if ((tenant.blocks & kBlockGather) != 0) at_ms = gathered_at_ms(region_, tenant);
  if ((tenant.blocks & kBlockLimited) != 0)
    at_ms = std::min<int64_t>(at_ms, control_of(region_, tenant).limited_until_ms);
  if ((tenant.blocks & kBlockRate) != 0) at_ms = std::min(at_ms, token_at_ms(control_of(region_, tenant)));
  if (at_ms == kNever || (tenant.heap_place != kNoIndex && tenant.timer_ms == at_ms)) return;
  const DelayHeap heap(region_);
  heap.remove(txn, i | kTimerOfTenant);
  put(txn, tenant.timer_ms, at_ms);
  heap.insert(txn, i | kTimerOfTenant);
}

Control& Limits::make(Txn& txn, uint32_t i) const {
  Tenant& tenant = region_.tenant(i);
  if (has_control(tenant)) return control_of(region_, tenant);
  const auto [index, control] =
      take_element(txn, region_.arena, region_.root.controls, region_.root.control_supply);
  put(txn, control.set.given, 0);
  take_over(txn, control.set, NodeTerms{}, ~0u);
  put(txn, control.limited_until_ms, 0);
  put(txn, control.interval_ns, 0);
  put(txn, control.max_messages, UINT64_MAX);
  put(txn, control.max_bytes, UINT64_MAX);
  put(txn, control.concurrency, kNoCount);
  put(txn, control.burst, 1);
  put(txn, control.pool, kNoIndex);
  put(txn, control.full_at_ns, 0);
  put(txn, control.node, i);
  txn.set(tenant.control, index);
  return control;
}

void Limits::set(Txn& txn, uint32_t i, const NodePatch& patch) const {
  Control& control = make(txn, i);
  NodeValues& values = control.set;
  const uint32_t changed = patch.set.given | patch.unset;
  change_setting(txn, region_, control, [&] {
    if ((values.given & changed & kGivenPool) != 0) text_remove(txn, region_, values.pool);
    take_over(txn, values, patch.set, patch.set.given);
    if ((patch.set.given & kGivenPool) != 0) put(txn, values.pool, text_add(txn, region_, patch.pool));
    if ((patch.set.given & kGivenLimited) != 0) put(txn, control.limited_until_ms, patch.limited_until_ms);
    put(txn, values.given, (values.given & ~patch.unset) | patch.set.given);
  });
  if ((patch.set.given & kGivenCaps) != 0) put(txn, region_.root.capped, 1);
}

void Limits::bring_up_to_date(Txn& txn, uint32_t i, const NodeTerms& from_file, int64_t now_ms) const {
  Tenant& tenant = region_.tenant(i);
  NodeTerms terms = from_file;
  if (has_control(tenant)) {
    const NodeValues& set = control_of(region_, tenant).set;
    visit_values(terms, set, [&](uint32_t bit, auto& field, const auto& value) {
      if ((set.given & bit) != 0) field = value;
    });
    terms.given |= set.given;
  }
  if (terms.weight_milli == 0) throw RegionDamaged{"a weight is nothing"};
  if (tenant.weight_milli != terms.weight_milli) seats_.set_weight(txn, i, terms.weight_milli);
  if (terms.given == 0 && !has_control(tenant)) return;
  Control& control = make(txn, i);
  const int64_t interval = interval_of(terms);
  // Another rate begins with a full bucket: what was taken under the old one is paid.
  if (control.interval_ns != interval) put(txn, control.full_at_ns, 0);
  put(txn, control.interval_ns, interval);
  put(txn, control.burst, terms.burst);
  put(txn, control.concurrency, terms.concurrency);
  put(txn, control.max_messages, terms.max_messages);
  put(txn, control.max_bytes, terms.max_bytes);
  assign_pool(txn, i, terms);
  const bool limited = (terms.given & kGivenLimited) != 0 && control.limited_until_ms > now_ms;
  if (!limited) end_limited(txn, region_, control);
  seats_.block(txn, i, kBlockPaused, (terms.given & kGivenPaused) != 0);
  seats_.block(txn, i, kBlockLimited, limited);
  seats_.block(txn, i, kBlockConcurrency, is_at_concurrency(i, control));
  seats_.block(txn, i, kBlockRate, token_at_ms(control) > now_ms);
  set_timer(txn, i);
  if (terms.given == 0 && (tenant.blocks & ~kBlockGather) == 0 && !is_needed(tenant, now_ms))
    remove(txn, tenant);
}

void Limits::assign_pool(Txn& txn, uint32_t i, const NodeTerms& terms) const {
  const uint32_t before = pool_of(region_, region_.tenant(i));
  const uint32_t pool = (terms.given & kGivenPool) == 0 || i == kRoot ? kNoIndex : pools_.find(terms.pool);
  if (pool == before) return;
  pools_.assign(txn, i, pool);
  seats_.reseat(txn, i);
}

bool Limits::is_set(const Tenant& tenant) const {
  return has_control(tenant) && control_of(region_, tenant).set.given != 0;
}

bool Limits::is_needed(const Tenant& tenant, int64_t now_ms) const {
  if (!has_control(tenant)) return false;
  const Control& control = control_of(region_, tenant);
  return control.set.given != 0 || control.full_at_ns > now_ms * kNsPerMs;
}

void Limits::move(Txn& txn, uint32_t from, uint32_t to) const {
  Tenant& old = region_.tenant(from);
  Tenant& next = region_.tenant(to);
  if (!has_control(old)) return;
  pools_.move(txn, from, to);
  put(txn, control_of(region_, old).node, to);
  put(txn, next.control, old.control.get());
  put(txn, old.control, kNoIndex);
}

void Limits::remove(Txn& txn, Tenant& tenant) const {
  if (!has_control(tenant)) return;
  Control& control = control_of(region_, tenant);
  pools_.assign(txn, control.node, kNoIndex);
  change_setting(txn, region_, control, [&] {
    if ((control.set.given & kGivenPool) != 0) text_remove(txn, region_, control.set.pool);
    put(txn, control.set.given, 0);
  });
  free_element(txn, region_.root.control_supply, control, tenant.control);
  put(txn, tenant.control, kNoIndex);
}

}  // namespace fq
