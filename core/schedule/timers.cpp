// timers - what time does to a schedule: messages become due, leases end, tenants are unparked or forgotten.
#include "core/schedule/schedule.h"

// System.
#include <algorithm>
#include <memory>
// fq, this room.
#include "core/schedule/rings/bucket.h"
#include "core/schedule/state.h"

namespace fq {
namespace {

// One call ends after so many timers, or when it made so many stores that one more of the worst kind (a
// message that gives eight levels their seats) might not fit 32 steps.
constexpr uint32_t kFiredMax = 32;
constexpr uint32_t kFireStoresMax = 768;

int64_t shifted(int64_t t, int64_t old_now_ms, int64_t new_now_ms, int64_t shift_ms) {
  if (t == kNever) return t;
  const int64_t left = std::max<int64_t>(0, t - old_now_ms);
  return std::clamp(t + shift_ms, new_now_ms, new_now_ms + left);
}

}  // namespace

int64_t Schedule::next_timer_ms() const {
  if (nodes_behind(region_.root) != kNoIndex) return 0;
  const DelayHeap heap(region_);
  const uint32_t cell = heap.first();
  return cell == kNoIndex ? kNever : heap.time_of(cell);
}

uint32_t Schedule::fire(Txn& txn, int64_t now_ms) {
  const DelayHeap heap(region_);
  const States states(region_);
  const uint32_t noted_before = txn.noted();
  uint32_t fired = 0;
  if (nodes_behind(region_.root) != kNoIndex) {
    follow_terms(txn, now_ms);
    ++fired;
  }
  while (fired < kFiredMax && txn.noted() - noted_before < kFireStoresMax) {
    const uint32_t cell = heap.first();
    if (cell == kNoIndex || heap.time_of(cell) > now_ms) break;
    ++fired;
    if ((cell & kTimerOfTenant) == 0 && (cell & kTimerOfKey) != 0) {
      keys().remove(txn, cell & ~kTimerOfKey);
      continue;
    }
    if (is_of_pool(cell)) {
      Pools(region_).fire(txn, cell & ~kTimerOfPool, heap.time_of(cell));
      continue;
    }
    if ((cell & kTimerOfTenant) != 0) {
      // As of its own time: who is late frees them in the same order as who comes in time.
      TenantTree(region_).fire(txn, cell & ~kTimerOfTenant, heap.time_of(cell));
      continue;
    }
    const Message message = region_.message(cell);
    if (state_of(message.entry) == SlotState::delayed) {
      states.leave(txn, message);
      states.enter_ready(txn, message, message.entry.at_ms);
    } else if (state_of(message.entry) == SlotState::leased) {
      // Who looks late does not make it longer.
      end_run(txn, SlotIndex{cell}, std::nullopt, heap.time_of(cell));
      give_back(txn, SlotIndex{cell}, true, true, 0, now_ms);
    } else if (state_of(message.entry) == SlotState::ready) {
      expire(txn, SlotIndex{cell});
    } else {
      throw RegionDamaged{"a message has a timer that its state does not know"};
    }
  }
  return fired;
}

void Schedule::shift_timers(int64_t old_now_ms, int64_t new_now_ms, int64_t shift_ms) {
  // The new times keep the order of the old ones, so the heap stays one. Nobody else sees this region and
  // it is thrown away when this process dies: stores need no log.
  const auto log = std::make_unique<UndoLog>();
  log->count = 0;
  Txn txn(region_.arena.base(), region_.arena.bytes(), *log);
  ScheduleRoot& root = region_.root;
  for (uint32_t i = 0; i < root.entry_supply.high_water; ++i) {
    Entry& entry = region_.entry(i);
    const SlotState state = state_of(entry);
    if (state == SlotState::free) continue;
    if (state == SlotState::ready && fq::expires_ms(region_, entry) != kNever) {
      const int64_t over_ms = shifted(fq::expires_ms(region_, entry), old_now_ms, new_now_ms, shift_ms);
      txn.fresh(region_.extra(entry.rank).ttl_ms, over_ms - (entry.at_ms + shift_ms));
    }
    if (state == SlotState::held && has_extra(entry)) {
      Extra& extra = region_.extra(entry.rank);
      txn.fresh(extra.due_ms, shifted(extra.due_ms, old_now_ms, new_now_ms, shift_ms));
    }
    const bool timer = state == SlotState::delayed || state == SlotState::leased;
    txn.fresh(entry.at_ms,
              timer ? shifted(entry.at_ms, old_now_ms, new_now_ms, shift_ms) : entry.at_ms + shift_ms);
    txn.fresh(entry.began_ms, entry.began_ms + static_cast<uint32_t>(shift_ms));
  }
  for (uint32_t i = 0; i < root.key_supply.high_water; ++i) {
    UniqueKey& key = region_.key(i);
    if (key.heap_place != kNoIndex)
      txn.fresh(key.until_ms, shifted(key.until_ms, old_now_ms, new_now_ms, shift_ms));
  }
  for (uint32_t i = 0; i < root.pool_supply.high_water; ++i) {
    Pool& pool = region_.pool(i);
    txn.fresh(pool.timer_ms, shifted(pool.timer_ms, old_now_ms, new_now_ms, shift_ms));
    const int64_t full_at_ms = pool.full_at_ns / kNsPerMs;
    txn.fresh(pool.full_at_ns, shifted(full_at_ms, old_now_ms, new_now_ms, shift_ms) * kNsPerMs);
  }
  for (uint32_t i = 0; i < root.tenant_supply.high_water; ++i) {
    Tenant& tenant = region_.tenant(i);
    if (!is_used(tenant)) continue;
    txn.fresh(tenant.timer_ms, shifted(tenant.timer_ms, old_now_ms, new_now_ms, shift_ms));
    txn.fresh(tenant.used_ms, tenant.used_ms + shift_ms);
    if (!is_inner(tenant))
      txn.fresh(tenant.joins, static_cast<uint64_t>(gathers_since_ms(tenant) + shift_ms));
    if (!has_control(tenant)) continue;
    Control& control = control_of(region_, tenant);
    txn.fresh(control.limited_until_ms, shifted(control.limited_until_ms, old_now_ms, new_now_ms, shift_ms));
    const int64_t full_at_ms = control.full_at_ns / kNsPerMs;
    txn.fresh(control.full_at_ns, shifted(full_at_ms, old_now_ms, new_now_ms, shift_ms) * kNsPerMs);
  }
}

}  // namespace fq
