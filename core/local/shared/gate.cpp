#include "core/local/shared/gate.h"

// System.
#include <algorithm>
#include <array>
// fq, below us.
#include "core/base/fault_point.h"
#include "core/base/step_count.h"
// fq, this room.
#include "core/local/files/process_info.h"

namespace fq {

namespace {
// Undo entries that one more message may need at the worst (eight new tenants with long names, a long key).
constexpr uint32_t kUndoReserve = 1000;
constexpr uint32_t kUndoOfWait = 20;       // and of each message that it came after
constexpr uint32_t kUndoOfSchedule = 100;  // and of the schedule that made it

uint32_t undo_reserve(const MessageItem& item) {
  return item.terms.empty() ? kUndoReserve
                            : kUndoReserve + kUndoOfSchedule + need_of(item).waits * kUndoOfWait;
}
}  // namespace

Result<void> Gate::enter() {
  SegmentHeader& header = store_.header();
  const bool learns = store_.schedule().is_behind();
  if (learns) store_.schedule().make_room();
  Taken taken = header.state.try_take();
  wait_ = taken == Taken::timed_out ? Wait::had : Wait::none;
  if (wait_ == Wait::had) taken = header.state.take(header.settings.lock_timeout_ms.peek());
  switch (taken) {
    case Taken::clean:
      break;
    case Taken::owner_died:
      dead_holder_ = true;
      if (!repair()) return poison("its undo log is no log");
      header.state.consistent();
      dead_holder_ = false;
      break;
    case Taken::timed_out:
      wait_ = Wait::in_vain;
      return held_by(object_ + ": its state lock is held", header.state.holder());
    case Taken::unusable:
      header.phase.store(Phase::poisoned, std::memory_order_release);
      trouble_ = SegmentTrouble::damaged;
      return Error{ErrorKind::unusable, object_ + ": its lock is damaged", 0};
  }
  FQ_HOLD_BEGINS();
  if (after_lock != nullptr) after_lock();
  const Phase phase = header.phase.load(std::memory_order_acquire);
  if (phase != Phase::working) {
    trouble_ = phase == Phase::retired ? SegmentTrouble::replaced : SegmentTrouble::damaged;
    header.state.unlock();
    return Error{ErrorKind::unusable, object_ + ": its segment was replaced", 0};
  }
  is_inside_ = true;
  if (learns) store_.schedule().learn();
  return {};
}

bool Gate::repair() {
  SegmentHeader& header = store_.header();
  FQ_POINT("repair.begin");
  if (!undo_rollback(store_.memory().base(), store_.memory().mapped_bytes(), header.undo)) {
    return false;
  }
  FQ_POINT("repair.undone");
  // Whoever died may have committed without publishing, and owed a wake to those who sleep.
  stream_.publish();
  Txn txn = store_.begin();
  txn.set(header.schedule.counters.recoveries, header.schedule.counters.recoveries + 1);
  txn.commit();
  FQ_POINT("repair.counted");
  announce(header.ready_event);
  announce(header.sync_event);
  return true;
}

void Gate::leave() {
  FQ_HOLD_ENDS();
  if (before_unlock != nullptr) before_unlock();
  is_inside_ = false;
  boot_ms_.reset();
  store_.header().state.unlock();
}

Error Gate::poison(const char* what) {
  // The Txn that was open has taken its changes back while unwinding; what it met is wrong all the same.
  SegmentHeader& header = store_.header();
  header.phase.store(Phase::poisoned, std::memory_order_release);
  trouble_ = SegmentTrouble::damaged;
  if (dead_holder_) header.state.consistent();
  dead_holder_ = false;
  is_inside_ = false;
  boot_ms_.reset();
  header.state.unlock();
  return Error{ErrorKind::unusable, object_ + ": its segment is damaged: " + what, 0};
}

Now Gate::at(int64_t boot_ms) const { return {boot_ms, boot_ms + store_.header().wall_minus_boot_ms.peek()}; }

Now Gate::now() {
  if (!is_inside_) return at(clock_.boot_ms());
  // Another process may have read its clock later and got the lock first.
  if (!boot_ms_) boot_ms_ = std::max(clock_.boot_ms(), store_.header().last_boot_ms.get());
  return at(*boot_ms_);
}

Now Gate::now_as_read(const Now& read) {
  FQ_ASSERT(is_inside_);
  if (!boot_ms_ && wait_ == Wait::none) boot_ms_ = std::max(read.boot_ms, store_.header().last_boot_ms.get());
  return now();
}

Now Gate::note_now(Txn& txn) {
  const Now noted = now();
  note_time(txn, noted.boot_ms);
  rates_note(txn, store_.header().schedule, noted.boot_ms);
  return noted;
}

void Gate::note_time(Txn& txn, int64_t boot_ms) {
  SegmentHeader& header = store_.header();
  if (boot_ms > header.last_boot_ms) open_ends(txn, header).set(header.last_boot_ms, boot_ms);
}

bool Gate::fire_timers(const Now& now, uint32_t transactions) {
  Schedule& schedule = store_.schedule();
  bool fired = false;
  for (uint32_t i = 0; i < transactions && schedule.timers().next_ms() <= now.boot_ms; ++i) {
    Txn txn = store_.begin();
    if (schedule.timers().fire(txn, now.boot_ms) == 0) break;
    // No record says that they fired: what a replay reads next must not be older than they were.
    note_time(txn, now.boot_ms);
    FQ_POINT("timers.fired");
    txn.commit();
    fired = true;
  }
  if (fired) mark_servable();
  if (fired) mark_ended();
  return fired;
}

void Gate::apply_pending(PushedMessages* own) {
  SegmentHeader& header = store_.header();
  while (header.applied_end < header.servable_end) {
    if (own != nullptr && own->position == header.applied_end) {
      Txn txn = store_.begin();
      apply_pushed(txn, *own, Need{});
      txn.commit();
    } else if (!apply_some()) {
      break;
    }
    FQ_POINT("pending.applied");
  }
}

/// What one transaction has linked of a record.
struct Gate::Linked {
  Need need;
  uint64_t ends_at = 0;  // all of the record is linked, which ends there
  bool delayed = false;
};

Bytes Gate::pending_record(uint64_t position) {
  std::array<std::byte, kRecordHeaderBytes + 8> start;
  stream_.copy_out(position, start);
  const std::optional<uint32_t> file = stream_.table().find(position);
  if (!file) throw RegionDamaged{"the stream's pending end lies in no file"};
  const uint32_t bytes = header_field::bytes.of(start);
  if (bytes < kRecordHeaderBytes || bytes > kRecordBytesMax) {
    throw RegionDamaged{"a pending record has no length"};
  }
  const Bytes whole = stream_.view(position, bytes);
  if (!whole.empty()) return whole;
  // It wraps around the ring's end. 256 KiB at most, allocated once; the rare case that pays for it.
  scratch_.resize(kRecordBytesMax);
  stream_.copy_out(position, MutableBytes(scratch_).first(bytes));
  return Bytes(scratch_).first(bytes);
}

void Gate::visit_pending(const std::function<void(const MessageItem&)>& visit) {
  const SegmentHeader& header = store_.header();
  uint32_t applied = header.applied_item;
  for (uint64_t at = header.applied_end; at < header.tail; applied = 0) {
    const Bytes whole = pending_record(at);
    at += padded(whole.size());
    if (header_field::type.of(whole) != RecordType::pushed) continue;
    PushedReader reader(whole.subspan(kRecordHeaderBytes), header_field::count.of(whole));
    uint32_t index = 0;
    while (const MessageItem* item = reader.next()) {
      if (index++ >= applied) visit(*item);
    }
    if (reader.broken()) throw RegionDamaged{"a pending record is broken"};
  }
}

[[gnu::always_inline]] inline void Gate::link(Txn& txn, const MessageItem& item, size_t item_bytes,
                                              MessageId id, uint64_t item_position, int64_t at_wall_ms,
                                              Linked& linked) {
  apply_.add(txn, item, item_bytes, id, item_position, at_wall_ms);
  linked.delayed |= item.due_wall_ms != 0;
  if (item.terms.empty()) return;  // as of most: the rest is a matter of terms
  apply_.made(txn, item, id);
  if (const std::optional<KeyHash> key = apply_.key_of(item)) {
    take_from(txn, store_.header().pending_keys[key->half[0] % kPendingKeys], 1);
  }
}

bool Gate::apply_some() {
  SegmentHeader& header = store_.header();
  const uint64_t position = header.applied_end;
  const Bytes whole = pending_record(position);
  const uint64_t end = position + padded(whole.size());
  Txn txn = store_.begin();
  if (header_field::type.of(whole) != RecordType::pushed) {
    txn.set(header.applied_end, end);
    txn.commit();
    return true;
  }
  const uint16_t count = header_field::count.of(whole);
  const int64_t at_wall_ms = header_field::at_wall_ms.of(whole);
  PushedReader reader(whole.subspan(kRecordHeaderBytes), count);
  const int64_t step_ms = header.wall_minus_boot_ms - store_.wall_minus_boot_at(position);
  MessageItem told;  // by the clock as it is
  Linked linked;
  uint32_t index = 0;
  while (const MessageItem* item = reader.next()) {
    if (index < header.applied_item || linked.need.messages == 0 ||
        txn.noted() + undo_reserve(*item) <= kUndoEntries) {
      ++index;
    } else {
      break;
    }
    if (index <= header.applied_item) continue;
    const MessageId id{number(reader.first_id()) + index - 1};
    if (step_ms != 0 && item->due_wall_ms > 0) {
      told = *item;
      told.due_wall_ms += step_ms;
      told.pushed_wall_ms += step_ms;
      item = &told;
    }
    link(txn, *item, reader.item_bytes(), id, position + kRecordHeaderBytes + reader.item_offset(),
         at_wall_ms + step_ms, linked);
    linked.need += need_of(*item);
  }
  if (reader.broken()) throw RegionDamaged{"a pending record is broken"};
  linked.ends_at = index == count ? end : 0;
  finish_linking(txn, linked, position, Need{});
  txn.commit();
  return true;
}

void Gate::apply_pushed(Txn& txn, PushedMessages& pushed, const Need& added) {
  Linked linked;
  const size_t first = pushed.next;
  while (pushed.next < pushed.items.size()) {
    const MessageItem& item = pushed.items[pushed.next];
    if (txn.noted() + undo_reserve(item) > kUndoEntries) break;
    const MessageId id{number(pushed.first_id) + pushed.next};
    const size_t bytes = pushed_item_bytes(item);
    link(txn, item, bytes, id, pushed.position + pushed.next_offset, pushed.at_wall_ms, linked);
    pushed.next_offset += static_cast<uint32_t>(bytes);
    ++pushed.next;
  }
  const bool all = pushed.next == pushed.items.size();
  if (all) linked.ends_at = pushed.position + padded(pushed.next_offset);
  if (all && first == 0) {
    linked.need = pushed.need;
  } else {
    for (size_t i = first; i < pushed.next; ++i) linked.need += need_of(pushed.items[i]);
  }
  finish_linking(txn, linked, pushed.position, added);
}

/// `position` is the record's, which is the pending end.
void Gate::finish_linking(Txn& txn, const Linked& linked, uint64_t position, const Need& added) {
  SegmentHeader& header = store_.header();
  stream_.table().add_live(txn, position, linked.need.messages);
  note_pending(txn, added, linked.need);
  if (linked.ends_at != 0) {
    put(txn, header.applied_item, 0);
    open_ends(txn, header).set(header.applied_end, linked.ends_at);
  } else {
    txn.set(header.applied_item, header.applied_item + linked.need.messages);
  }
  // Who sleeps until a timer has to know of an earlier one; a message is for one of them.
  if (linked.delayed) mark_servable();
  mark_servable(linked.need.messages);
}

void Gate::note_keys(Txn& txn, std::span<const MessageItem> items) {
  std::array<uint16_t, kPendingKeys> counts{};
  for (const MessageItem& item : items) {
    if (const std::optional<KeyHash> key = apply_.key_of(item)) ++counts[key->half[0] % kPendingKeys];
  }
  for (uint32_t i = 0; i < kPendingKeys; ++i) {
    if (counts[i] != 0) add_to(txn, store_.header().pending_keys[i], counts[i]);
  }
}

void Gate::note_pending(Txn& txn, const Need& added, const Need& linked) {
  if (added.messages == linked.messages) return;  // what was added was linked at once
  SegmentHeader& header = store_.header();
  put(txn, header.pending_messages, header.pending_messages + added.messages - linked.messages);
  put(txn, header.pending_tenants, header.pending_tenants + added.tenants - linked.tenants);
  put(txn, header.pending_cells, header.pending_cells + added.text_cells - linked.text_cells);
  put(txn, header.pending_key_count, header.pending_key_count + added.keys - linked.keys);
  put(txn, header.pending_waits, header.pending_waits + added.waits - linked.waits);
  put(txn, header.pending_extras, header.pending_extras + added.extras - linked.extras);
}

void Gate::wake_sleepers() {
  SegmentHeader& header = store_.header();
  if (std::exchange(ended_, false)) {
    header.end_event.fetch_add(1, std::memory_order_seq_cst);
    if (header.end_waiters.load(std::memory_order_seq_cst) != 0) futex_wake_all(header.end_event);
  }
  if (changed_holder_) futex_wake_all(&header.holders[*changed_holder_].changes);
  changed_holder_.reset();
  const uint32_t messages = std::exchange(wake_, 0);
  if (messages == 0) return;
  header.ready_event.fetch_add(1, std::memory_order_seq_cst);
  FQ_POINT("wake.counted");
  if (header.ready_waiters.load(std::memory_order_seq_cst) == 0) return;
  // Who wants only some messages might be the one that is woken, and leave it at that.
  const bool selective = header.selective_waiters.load(std::memory_order_seq_cst) != 0;
  futex_wake(header.ready_event, selective ? kEverybody : messages);
}

}  // namespace fq
