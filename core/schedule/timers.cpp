// timers - see timers.h.
#include "core/schedule/timers.h"

// System.
#include <algorithm>
#include <memory>
// fq, this room.
#include "core/schedule/messages.h"
#include "core/schedule/node_policy.h"
#include "core/schedule/order/timetable.h"
#include "core/schedule/rings/bucket.h"
#include "core/schedule/states/state.h"

namespace fq {
namespace {

// One call ends after so many timers, or when it made so many stores that one more of the worst kind (a
// message that gives eight levels their seats) might not fit 32 steps.
constexpr uint32_t kFiredMax = 32;
constexpr uint32_t kFireStoresMax = 768;

}  // namespace

int64_t Timers::next_ms() const {
  if (nodes_behind(region_.root) != kNoIndex) return 0;
  const DelayHeap heap(region_);
  const uint32_t cell = heap.first();
  return cell == kNoIndex ? kNever : heap.time_of(cell);
}

void Timers::fire_of_message(Txn& txn, uint32_t slot, int64_t due_ms, int64_t now_ms) const {
  const Message message = region_.message(slot);
  const Messages messages(region_);
  switch (state_of(message.entry)) {
    case SlotState::delayed: {
      const States states(region_);
      states.leave(txn, message);
      return states.enter_ready(txn, message, message.entry.at_ms);
    }
    case SlotState::leased:
      // A late look does not make the run longer.
      messages.end_run(txn, SlotIndex{slot}, std::nullopt, due_ms);
      messages.requeue(txn, SlotIndex{slot}, true, true, 0, now_ms);
      return;
    case SlotState::ready:
      return messages.expire(txn, SlotIndex{slot});
    default:
      throw RegionDamaged{"a message has a timer that its state does not know"};
  }
}

uint32_t Timers::fire(Txn& txn, int64_t now_ms) const {
  const DelayHeap heap(region_);
  const uint32_t noted_before = txn.noted();
  uint32_t fired = 0;
  if (nodes_behind(region_.root) != kNoIndex) {
    NodePolicy(region_).follow_terms(txn, now_ms);
    ++fired;
  }
  for (; fired < kFiredMax && txn.noted() - noted_before < kFireStoresMax; ++fired) {
    const uint32_t cell = heap.first();
    const int64_t due_ms = cell == kNoIndex ? kNever : heap.time_of(cell);
    if (cell == kNoIndex || due_ms > now_ms) break;
    if ((cell & kTimerOfTenant) != 0) {
      // As of its own time: a late look frees tenants in the same order as one in time.
      TenantTree(region_).fire(txn, cell & ~kTimerOfTenant, due_ms);
    } else if ((cell & kTimerOfKey) != 0) {
      UniqueKeys(region_).remove(txn, cell & ~kTimerOfKey);
    } else if (is_of_pool(cell)) {
      Pools(region_).fire(txn, cell & ~kTimerOfPool, due_ms);
    } else if (is_of_recurring(cell)) {
      Timetable(region_).fire(txn, cell & ~kTimerOfRecurring);
    } else {
      fire_of_message(txn, cell, due_ms, now_ms);
    }
  }
  return fired;
}

void Timers::shift(int64_t old_now_ms, int64_t new_now_ms, int64_t shift_ms) const {
  // The new times keep the order of the old ones, so the heap stays one. Nobody else sees this region and
  // it is thrown away when this process dies: stores need no log.
  const auto log = std::make_unique<UndoLog>();
  log->count = 0;
  Txn txn(region_.arena.base(), region_.arena.bytes(), *log);
  const auto shifted = [&](int64_t t) {
    if (t == kNever) return t;
    const int64_t left = std::max<int64_t>(0, t - old_now_ms);
    return std::clamp(t + shift_ms, new_now_ms, new_now_ms + left);
  };
  const auto shift_timer = [&](Shared<int64_t>& timer_ms) { txn.fresh(timer_ms, shifted(timer_ms)); };
  const auto shift_bucket = [&](Shared<int64_t>& full_at_ns) {
    txn.fresh(full_at_ns, shifted(full_at_ns / kNsPerMs) * kNsPerMs);
  };
  ScheduleRoot& root = region_.root;
  for (uint32_t i = 0; i < root.entry_supply.high_water; ++i) {
    Entry& entry = region_.entry(i);
    const SlotState state = state_of(entry);
    if (state == SlotState::free) continue;
    if (state == SlotState::ready && expires_ms(region_, entry) != kNever) {
      const int64_t over_ms = shifted(expires_ms(region_, entry));
      txn.fresh(region_.extra(entry.rank).ttl_ms, over_ms - (entry.at_ms + shift_ms));
    }
    const bool suspended = state == SlotState::leased && has_extra(entry);
    if ((state == SlotState::held && has_extra(entry)) || suspended) {
      Extra& extra = region_.extra(entry.rank);
      if ((extra.flags & kExtraFromRelease) == 0) shift_timer(extra.due_ms);
    }
    const bool timer = state == SlotState::delayed || state == SlotState::leased;
    txn.fresh(entry.at_ms, timer ? shifted(entry.at_ms) : entry.at_ms + shift_ms);
    txn.fresh(entry.began_ms, entry.began_ms + static_cast<uint32_t>(shift_ms));
  }
  for (RunMark& mark : root.run_marks) txn.fresh(mark.at_ms, mark.at_ms + shift_ms);
  if (root.run_mark_due_ms != 0) txn.fresh(root.run_mark_due_ms, root.run_mark_due_ms + shift_ms);
  for (uint32_t i = 0; i < root.key_supply.high_water; ++i) {
    UniqueKey& key = region_.key(i);
    txn.fresh(key.since_ms, key.since_ms + shift_ms);
    if (key.heap_place != kNoIndex) shift_timer(key.until_ms);
  }
  for (uint32_t i = 0; i < root.recurring_supply.high_water; ++i) {
    Recurring& recurring = region_.recurring(i);
    if (recurring.heap_place != kNoIndex) shift_timer(recurring.timer_ms);
  }
  for (uint32_t i = 0; i < root.pool_supply.high_water; ++i) {
    Pool& pool = region_.pool(i);
    shift_timer(pool.timer_ms);
    shift_bucket(pool.full_at_ns);
  }
  for (uint32_t i = 0; i < root.tenant_supply.high_water; ++i) {
    Tenant& tenant = region_.tenant(i);
    if (!is_used(tenant)) continue;
    shift_timer(tenant.timer_ms);
    txn.fresh(tenant.used_ms, tenant.used_ms + shift_ms);
    if (!is_inner(tenant))
      txn.fresh(tenant.joins, static_cast<uint64_t>(gathers_since_ms(tenant) + shift_ms));
    if (!has_control(tenant)) continue;
    Control& control = control_of(region_, tenant);
    shift_timer(control.limited_until_ms);
    shift_bucket(control.full_at_ns);
  }
}

}  // namespace fq
