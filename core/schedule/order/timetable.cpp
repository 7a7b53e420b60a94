#include "core/schedule/order/timetable.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/base/clock.h"
#include "core/base/name_hash.h"
#include "core/schedule/order/delay_heap.h"

namespace fq {

uint32_t Timetable::find(std::string_view name) const {
  const ScheduleRoot& root = region_.root;
  if (root.recurring_supply.used == 0) return kNoIndex;
  const uint64_t hash = hash_name(root.hash_key[0], root.hash_key[1], name);
  return index_.find(hash, [&](const Recurring& recurring) {
    return recurring.hash == hash && text_equals(region_, recurring.name, name);
  });
}

void Timetable::set(Txn& txn, const RecurringState& state, int64_t timer_ms) const {
  ScheduleRoot& root = region_.root;
  uint32_t i = find(state.name);
  if (i == kNoIndex) {
    const uint64_t hash = hash_name(root.hash_key[0], root.hash_key[1], state.name);
    const auto [made, recurring] = take_element(txn, region_.arena, root.recurring, root.recurring_supply);
    i = made;
    txn.fresh(recurring.hash, hash);
    txn.fresh(recurring.name, text_add(txn, region_, state.name));
    txn.fresh(recurring.flags, kRecurringUsed);
    txn.fresh(recurring.heap_place, kNoIndex);
    txn.fresh(recurring.record_bytes, 0);
    txn.fresh(recurring.version, 0);
    if (root.recurring_bucket_count == 0) {
      txn.set(root.recurring_bucket_count, 1);
      txn.set(region_.arena.at(root.recurring_buckets, 0).index, kNoIndex);
    }
    index_.insert(txn, i, recurring, root.recurring_supply.used);
  }
  Recurring& recurring = region_.recurring(i);
  unlink(txn, i);
  if ((recurring.flags & kRecurringPaused) != 0) take_from(txn, root.paused_recurring, 1);
  if (state.paused) add_to(txn, root.paused_recurring, 1);
  put(txn, recurring.flags,
      kRecurringUsed | (state.paused ? kRecurringPaused : 0) | (state.of_file ? kRecurringOfFile : 0));
  move(txn, i, state.record, state.record_bytes);
  txn.set(recurring.version, state.record);
  put(txn, recurring.done_wall_ms, state.done_wall_ms);
  put(txn, recurring.next_wall_ms, state.next_wall_ms);
  put(txn, recurring.last_wall_ms, state.last_wall_ms);
  put(txn, recurring.last, state.last);
  put(txn, recurring.last_id, state.last_id);
  put(txn, recurring.known_id, state.known_id);
  wait_until(txn, i, timer_ms);
}

void Timetable::move(Txn& txn, uint32_t i, uint64_t record, uint32_t record_bytes) const {
  Recurring& recurring = region_.recurring(i);
  Shared<uint64_t>& all = region_.root.recurring_bytes;
  take_from(txn, all, recurring.record_bytes);
  add_to(txn, all, record_bytes);
  put(txn, recurring.record_bytes, record_bytes);
  txn.set(recurring.record, record);
}

void Timetable::remove(Txn& txn, uint32_t i) const {
  Recurring& recurring = region_.recurring(i);
  unlink(txn, i);
  index_.remove(txn, i, recurring);
  text_remove(txn, region_, recurring.name);
  take_from(txn, region_.root.recurring_bytes, recurring.record_bytes);
  if ((recurring.flags & kRecurringPaused) != 0) take_from(txn, region_.root.paused_recurring, 1);
  put(txn, recurring.flags, 0);
  free_element(txn, region_.root.recurring_supply, recurring, i);
}

bool Timetable::note_made(Txn& txn, uint32_t i, uint64_t id, int64_t at_wall_ms, int64_t next_wall_ms,
                          int64_t timer_ms) const {
  Recurring& recurring = region_.recurring(i);
  if (id <= recurring.known_id) return false;
  put(txn, recurring.known_id, id);
  put(txn, recurring.last_id, id);
  put(txn, recurring.last, Occurrence::made);
  put(txn, recurring.last_wall_ms, at_wall_ms);
  if (next_wall_ms != 0) go_on(txn, i, at_wall_ms, next_wall_ms, timer_ms);
  return true;
}

void Timetable::note_skipped(Txn& txn, uint32_t i, Occurrence why, int64_t at_wall_ms, int64_t next_wall_ms,
                             int64_t timer_ms) const {
  Recurring& recurring = region_.recurring(i);
  put(txn, recurring.last, why);
  put(txn, recurring.last_wall_ms, at_wall_ms);
  go_on(txn, i, at_wall_ms, next_wall_ms, timer_ms);
}

void Timetable::go_on(Txn& txn, uint32_t i, int64_t at_wall_ms, int64_t next_wall_ms,
                      int64_t timer_ms) const {
  Recurring& recurring = region_.recurring(i);
  // So long before what is accounted for a time comes only by a clock that was set right since.
  const bool was_wrong = recurring.done_wall_ms - at_wall_ms > kClockWrongMs;
  put(txn, recurring.done_wall_ms,
      was_wrong ? at_wall_ms : std::max<int64_t>(recurring.done_wall_ms, at_wall_ms));
  put(txn, recurring.next_wall_ms, next_wall_ms);
  unlink(txn, i);
  wait_until(txn, i, timer_ms);
}

void Timetable::postpone(Txn& txn, uint32_t i, int64_t next_wall_ms, int64_t timer_ms) const {
  put(txn, region_.recurring(i).next_wall_ms, next_wall_ms);
  unlink(txn, i);
  wait_until(txn, i, timer_ms);
}

void Timetable::follow_clock(Txn& txn, uint32_t i, int64_t wall_minus_boot_ms, int64_t now_wall_ms) const {
  if (at(i).heap_place == kNoIndex) return;
  // Of one whose time has come its timer tells, and so those that are due are so in the order of their times.
  const bool is_waiting = at(i).next_wall_ms > now_wall_ms;
  if (is_waiting && at(i).done_wall_ms - now_wall_ms > kClockWrongMs)
    fire(txn, i);
  else
    postpone(txn, i, at(i).next_wall_ms, at(i).next_wall_ms - wall_minus_boot_ms);
}

void Timetable::refuse(Txn& txn, uint32_t i) const {
  unlink(txn, i);
  push_back(txn, region_.root.refused, i, kRecurringRefused);
}

void Timetable::try_again(Txn& txn) const {
  const uint32_t i = first_refused();
  if (i == kNoIndex) return;
  unlink(txn, i);
  push_back(txn, region_.root.due, i, kRecurringDue);
}

void Timetable::fire(Txn& txn, uint32_t i) const {
  unlink(txn, i);
  push_back(txn, region_.root.due, i, kRecurringDue);
}

/// Needs: it is in no list and has no timer.
void Timetable::wait_until(Txn& txn, uint32_t i, int64_t timer_ms) const {
  Recurring& recurring = region_.recurring(i);
  put(txn, recurring.timer_ms, timer_ms);
  const bool waits = (recurring.flags & kRecurringPaused) == 0 && recurring.next_wall_ms != kNever;
  if (waits) DelayHeap(region_).insert(txn, i | kTimerOfRecurring);
}

/// Out of the list that it is in, or out of the heap.
void Timetable::unlink(Txn& txn, uint32_t i) const {
  Recurring& recurring = region_.recurring(i);
  DelayHeap(region_).remove(txn, i | kTimerOfRecurring);
  const uint32_t listed = recurring.flags & (kRecurringDue | kRecurringRefused);
  if (listed == 0) return;
  RecurringList& list = listed == kRecurringDue ? region_.root.due : region_.root.refused;
  const uint32_t prev = recurring.prev, next = recurring.next;
  txn.set(prev == kNoIndex ? list.head : region_.recurring(prev).next, next);
  txn.set(next == kNoIndex ? list.tail : region_.recurring(next).prev, prev);
  txn.set(recurring.flags, recurring.flags & ~listed);
}

void Timetable::push_back(Txn& txn, RecurringList& list, uint32_t i, uint32_t flag) const {
  Recurring& recurring = region_.recurring(i);
  const uint32_t last = list.tail;
  put(txn, recurring.prev, last);
  put(txn, recurring.next, kNoIndex);
  txn.set(last == kNoIndex ? list.head : region_.recurring(last).next, i);
  txn.set(list.tail, i);
  txn.set(recurring.flags, recurring.flags | flag);
}

}  // namespace fq
