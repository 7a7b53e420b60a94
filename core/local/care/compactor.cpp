#include "core/local/care/compactor.h"

// System.
#include <algorithm>
#include <array>
// fq, below us.
#include "core/base/fault_point.h"
// fq, this room.
#include "core/local/write/pin_walk.h"

namespace fq {

namespace {

constexpr uint64_t kCopyBytesPerStep = 1024 * 1024;
constexpr int kReplacedStepsMax = 10'000;  // against some that are replaced all the time
constexpr uint32_t kSlotsPerStep = 65536;  // walked under one hold of the lock: about 1 ms

PastEvent past_of(RecordType type, int64_t at_wall_ms, uint64_t serial, const EventDetail& detail) {
  PastEvent past;
  past.type = type;
  past.at_wall_ms = at_wall_ms;
  past.serial = serial;
  past.pid = detail.pid;
  return past;
}

/// What it came after, and for what of it it still waits.
std::vector<std::byte> after_now(Bytes after, const std::vector<uint64_t>& waits) {
  std::vector<std::byte> now(after.begin(), after.end());
  for (size_t at = 0; at + 8 <= now.size(); at += 8) {
    auto word = get_number<uint64_t>(now.data() + at) & ~kAfterClosed;
    const bool open = std::find(waits.begin(), waits.end(), word & kMessageIdMax) != waits.end();
    put_number(now.data() + at, open ? word : word | kAfterClosed);
  }
  return now;
}

}  // namespace

/// Some messages whose payload lies in the oldest file, from where the last look (perhaps another process's)
/// stopped. True: this one has come to the end of all messages.
Result<bool> Compactor::find_in_oldest(std::vector<InOldest>& found) {
  bool at_end = false;
  FQ_TRY(locked([&]() -> Result<void> {
    SegmentHeader& shared = header();
    found.clear();
    const JournalSlot& oldest = stream().table().slot(shared.oldest_file);
    const uint32_t from = shared.copied_file == shared.oldest_file ? shared.copied_slots.get() : 0;
    uint64_t bytes = 0;
    const uint32_t end = schedule().views().slots_end();
    const uint32_t to = from < end ? from + std::min(kSlotsPerStep, end - from) : end;
    uint32_t slot = from;
    for (; slot < to && bytes < kCopyBytesPerStep; ++slot) {
      const Entry& entry = schedule().messages().entry(SlotIndex{slot});
      const uint64_t position = entry.item_position;
      const bool is_free = static_cast<SlotState>(entry.state.get()) == SlotState::free;
      if (is_free || position < oldest.start || position >= oldest.end) continue;
      found.push_back({MessageId{entry.id.get()}, position});
      bytes += journal_bytes_of(entry);
    }
    at_end = slot >= end;
    Txn txn = store().begin();
    txn.set(shared.copied_file, shared.oldest_file);
    // At the end it begins again: messages may have taken slots behind us meanwhile.
    txn.set(shared.copied_slots, at_end ? 0 : slot);
    txn.commit();
    return {};
  }));
  return at_end;
}

/// One step. False: nothing in the oldest file can be copied.
Result<bool> Compactor::copy_forward() {
  std::vector<InOldest> found;
  FQ_TRY_SET(const bool at_end, find_in_oldest(found));
  bool copied_one = false;
  for (const InOldest& each : found) {
    FQ_TRY_SET(Copied copied, copy_message(each.id, each.item_position));
    if (copied == Copied::unreadable) {
      FQ_TRY_SET(copied, give_up(each.id, each.item_position));
    }
    copied_one = copied_one || copied != Copied::unreadable;
  }
  return copied_one || !at_end;
}

/// The replaced ones from where the walk is, some of them; returns where the look ended. Needs: the lock.
uint32_t Compactor::find_replaced(std::vector<InOldest>& found) {
  found.clear();
  const uint32_t end = schedule().root().entry_supply.high_water;
  uint32_t at = header().replaced.walk_next;
  uint64_t bytes = 0;
  for (uint32_t walked = 0; at < end && walked < kSlotsPerStep && bytes < kCopyBytesPerStep; ++walked, ++at) {
    const Entry& entry = schedule().messages().entry(SlotIndex{at});
    if (state_of(entry) == SlotState::free || !schedule().views().is_replaced(SlotIndex{at})) continue;
    found.push_back({MessageId{entry.id.get()}, entry.item_position});
    bytes += journal_bytes_of(entry);
  }
  return at;
}

/// Messages that have another payload than their push gave them, so that the files of their pushes can go.
Result<void> Compactor::carry_replaced() {
  std::vector<InOldest> found;
  for (int step = 0; step < kReplacedStepsMax; ++step) {
    bool more = false;
    FQ_TRY(locked([&]() -> Result<void> {
      more = begin_walk(link_, header().replaced);
      if (!more) return {};
      const uint32_t next = find_replaced(found);
      // Only what is done is passed: a death, or another replacement meanwhile, leaves it to the next look.
      if (!found.empty()) return {};
      Txn txn = store().begin();
      note_walked(txn, header().replaced, next, next >= schedule().root().entry_supply.high_water);
      txn.commit();
      return {};
    }));
    if (!more) return {};
    for (const InOldest& each : found) {
      FQ_TRY_SET(Copied copied, copy_message(each.id, each.item_position));
      if (copied == Copied::unreadable) {
        FQ_TRY_SET(copied, give_up(each.id, each.item_position));
      }
      if (copied == Copied::unreadable) return {};
    }
  }
  return {};
}

Result<Compactor::Copied> Compactor::copy_message(MessageId id, uint64_t item_position) {
  Carried carried;
  carried.wall_minus_boot_ms = header().wall_minus_boot_ms.peek();
  std::optional<Snapshot> snapshot;
  std::array<uint64_t, kWaitsMax> ids;
  carried.waits.reserve(ids.size());  // nothing is allocated under the lock
  FQ_TRY(locked([&]() -> Result<void> {
    snapshot.reset();
    const std::optional<SlotIndex> slot = schedule().messages().find(id);
    if (slot && schedule().messages().entry(*slot).item_position == item_position) {
      snapshot = take_snapshot(link_, *slot);
      carried.waits.resize(schedule().dependents().waits_of(*slot, ids));
      std::copy_n(ids.begin(), carried.waits.size(), carried.waits.begin());
    }
    return {};
  }));
  if (!snapshot) return Copied::gone;
  if (!snapshot->place) return Copied::unreadable;
  StoredItem stored;
  // Its events are read before it is written: what is only looked at in the cache would be something else
  // then.
  FQ_TRY_SET(const bool found, reader().read(*snapshot->place, stored, true));
  if (!found) return Copied::unreadable;
  return put_forward(*snapshot, stored, item_position, carried);
}

Result<Compactor::Copied> Compactor::put_forward(const Snapshot& snapshot, const StoredItem& stored,
                                                 uint64_t item_position, Carried& carried) {
  FQ_TRY(carry(snapshot, stored, carried));
  encode_moved(body_, carried.record);
  const auto copied = decode_moved(body_.bytes);
  if (!copied) return Copied::gone;
  carried.item_offset = moved_item_offset(body_.bytes, *copied);
  const uint64_t bytes = padded(kRecordHeaderBytes + body_.bytes.size());
  Obstacle obstacle = Obstacle::none;
  bool moved = false;
  FQ_TRY(locked([&]() -> Result<void> {
    obstacle = writer_.room_for(Purpose::care, bytes);
    if (obstacle == Obstacle::none) moved = append_moved(snapshot, item_position, carried);
    return {};
  }));
  // It may have changed by then: the caller looks at it again.
  if (obstacle != Obstacle::none) FQ_TRY(writer_.overcome(obstacle));
  return moved ? Copied::moved : Copied::again;
}

/// All that is known of a message, so that it needs no older file.
Result<void> Compactor::carry(const Snapshot& snapshot, const StoredItem& stored, Carried& carried) {
  MovedRecord& moved = carried.record;
  moved.id = MessageId{snapshot.id};
  moved.pushed_wall_ms = stored.item.pushed_wall_ms;
  moved.message = stored.item;
  // What of them still holds.
  if (std::optional<MessageTerms> terms = decode_terms(stored.item.terms)) {
    terms->ttl_ms = snapshot.ttl_ms;
    terms->expired = snapshot.expired;
    if (!snapshot.has_key) terms->key = {};
    if (!snapshot.has_key) terms->debounced = false;
    terms->key_lost = snapshot.key_lost;
    carried.after = after_now(terms->after, carried.waits);
    terms->after = carried.after;
    carried.terms = encode_terms(*terms);
  }
  moved.message.terms = carried.terms;
  moved.attempts = snapshot.attempts;
  moved.attempts_max = snapshot.attempts_max;
  moved.crashes = snapshot.crashes;
  moved.deliveries = snapshot.deliveries;
  moved.serial = Serial{snapshot.serial};
  moved.pid = static_cast<uint32_t>(snapshot.pid);
  moved.state_wall_ms = snapshot.at_wall_ms;
  moved.state = snapshot.slot_state;
  FQ_TRY(walk_events(link_, snapshot.id, snapshot.event_position,
                     [&](RecordType type, int64_t at_wall_ms, const EventDetail& detail, uint64_t serial,
                         EventSource source) {
                       const bool failed = is_failure(type) && source != EventSource::carried;
                       if (failed && moved.error_wall_ms == 0) {
                         moved.error = detail;
                         carried.reason = detail.reason;
                         carried.stderr_tail = detail.stderr_tail;
                         moved.error_wall_ms = at_wall_ms;
                       }
                       if (source == EventSource::carried_error) return true;
                       moved.past.push_back(past_of(type, at_wall_ms, serial, detail));
                       return moved.past.size() < kPastEventsMax;
                     }));
  std::reverse(moved.past.begin(), moved.past.end());
  moved.error.reason = carried.reason;
  moved.error.stderr_tail = carried.stderr_tail;
  return {};
}

/// Appends the encoded record, if the message still is where and what it was when it was looked at.
bool Compactor::append_moved(const Snapshot& snapshot, uint64_t item_position, const Carried& carried) {
  const std::optional<SlotIndex> slot = schedule().messages().find(MessageId{snapshot.id});
  if (!slot) return false;
  const Entry& entry = schedule().messages().entry(*slot);
  if (header().wall_minus_boot_ms != carried.wall_minus_boot_ms) return false;
  if (entry.item_position != item_position || entry.event_position != snapshot.event_position ||
      entry.serial != snapshot.serial || static_cast<SlotState>(entry.state.get()) != snapshot.slot_state) {
    return false;
  }
  Change change(link_, gate().now());
  Txn& txn = change.txn();
  const std::optional<uint32_t> file = stream().table().find(item_position);
  if (file && carried.record.message.is_lost()) txn.set(stream().table().slot(*file).lost, 1);
  const uint64_t position = change.append(body_);
  gate().apply().moved(txn, carried.record, position, position + kRecordHeaderBytes + carried.item_offset,
                       HolderIndex{entry.holder.get()}, change.now().wall_ms);
  FQ_POINT("compaction.moved");
  change.commit();
  return true;
}

}  // namespace fq
