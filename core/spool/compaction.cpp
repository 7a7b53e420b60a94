// compaction - journal files given back: the oldest first, never one that anything still needs.
//
// A file whose messages are all finished is dropped: LOW is made durable, then the file is recycled or
// removed. A file that few live messages pin has them copied forward as MOVED records first. Run in small
// steps by consumers after a verdict, never by push. The compaction lock is held while files change, not
// while the disk is waited for.
#include "core/spool/local_queue.h"

// System.
#include <algorithm>
#include <array>
#include <cerrno>
// fq, below us.
#include "core/base/fault_point.h"
// fq, this room.
#include "core/spool/file_supply.h"
#include "core/spool/local_looked.h"

namespace fq {

namespace {

constexpr uint64_t kCopyBytesPerStep = 1024 * 1024;
constexpr uint32_t kSlotsPerStep = 65536;                // walked under one hold of the lock: about 1 ms
constexpr uint64_t kSparseFloorBytes = 4 * 1024 * 1024;  // a journal below this is not worth copying
constexpr uint64_t kRecordOverheadBytes = 128;           // about, of a live message
constexpr uint64_t kSparseFactor = 4;                    // what is about to be served soon goes by itself
constexpr uint32_t kAcksBetweenLooks = 64;               // the sums over all files are not made every time
constexpr uint32_t kReadyFilesKept = 2;
constexpr int64_t kCompactionTimeoutMs = 100;  // somebody else is at it: fine

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

/// What a journal of nothing but live messages would take, about. Needs: the lock.
uint64_t LocalQueue::needed_bytes(const SegmentHeader& shared) {
  const StateCounts& counts = shared.schedule.counts;
  const uint64_t live = uint64_t{counts.ready} + counts.delayed + counts.leased + counts.dead + counts.held;
  return shared.schedule.payload_bytes + live * kRecordOverheadBytes;
}

bool LocalQueue::oldest_is_dead() const {
  const SegmentHeader& shared = attachment_->store().header();
  if (shared.oldest_file == shared.current_file) return false;
  const JournalSlot& oldest = shared.files[shared.oldest_file % kJournalFilesMax];
  const uint64_t durable_end = shared.durable_end.load(std::memory_order_relaxed);
  return oldest.live == 0 && oldest.end <= durable_end && oldest.end <= shared.applied_end;
}

bool LocalQueue::oldest_is_sparse() const {
  const SegmentHeader& shared = attachment_->store().header();
  if (shared.oldest_file == shared.current_file) return false;
  const uint64_t in_use = shared.tail - shared.files[shared.oldest_file % kJournalFilesMax].start;
  const uint64_t needed = needed_bytes(shared);
  return in_use > kSparseFloorBytes + kSparseFactor * needed;
}

bool LocalQueue::is_compaction_due() {
  if (oldest_is_dead()) return true;
  return header().schedule.counters.acked % kAcksBetweenLooks == 0 && oldest_is_sparse();
}

Result<void> LocalQueue::compact_step() {
  compaction_due_ = false;
  bool dead = false;
  bool sparse = false;
  FQ_TRY(locked([&]() -> Result<void> {
    dead = oldest_is_dead();
    sparse = !dead && oldest_is_sparse();
    return {};
  }));
  if (sparse) FQ_TRY(copy_forward());
  return dead ? drop_oldest_file() : Result<void>();
}

Result<void> LocalQueue::drop_oldest_file() {
  FQ_TRY(carry_policy());
  FQ_TRY(carry_keys());
  uint32_t number = 0;
  uint64_t low_end = 0;
  FQ_TRY(locked([&]() -> Result<void> {
    SegmentHeader& shared = header();
    low_end = 0;
    const JournalSlot& oldest = stream().table().slot(shared.oldest_file);
    const bool pinned = shared.policy_record != 0 && shared.policy_record < oldest.end;
    const bool has_keys = shared.keys_record != 0 && shared.keys_record < oldest.end;
    if (!oldest_is_dead() || pinned || has_keys) return {};
    number = shared.oldest_file;
    LowRecord low;
    low.file_number = number + 1;
    low.counts = schedule().counts();
    low.id_limit = shared.id_limit;
    low.serial_limit = shared.serial_limit;
    low.counts.pushed += shared.pending_messages;
    encode_low(body_, low);
    // The CLOCK record behind it is no longer than LOW.
    if (event_obstacle(2 * padded(kRecordHeaderBytes + body_.bytes.size())) != Obstacle::none) return {};
    Txn txn = store().begin();
    const Now now = gate().in_order(txn, gate().now());
    stream().append(txn, body_, MessageId{0}, now.wall_ms);
    // The boot and the clock are known from a record too, which may lie in the file that goes.
    ClockRecord clock;
    std::memcpy(clock.boot_id, attachment_->kernel().boot_id, sizeof clock.boot_id);
    clock.wall_minus_boot_ms = shared.wall_minus_boot_ms;
    encode_clock(body_, clock);
    stream().append(txn, body_, MessageId{0}, now.wall_ms);
    txn.commit();
    stream().publish();
    low_end = shared.tail;
    return {};
  }));
  if (low_end == 0) return {};
  FQ_POINT("compaction.low");
  FQ_TRY(session_->flusher.wait_durable(low_end));
  FQ_POINT("compaction.low_durable");
  SegmentHeader& shared = header();
  const Taken taken = shared.compaction.take(kCompactionTimeoutMs);
  if (taken == Taken::owner_died) shared.compaction.consistent();
  if (taken != Taken::clean && taken != Taken::owner_died) return {};
  Result<void> removed = remove_oldest_file(number);
  shared.compaction.unlock();
  return removed;
}

Result<void> LocalQueue::remove_oldest_file(uint32_t number) {
  bool still_oldest = false;
  bool recycle = false;
  FileKey key;
  uint64_t bytes = 0;
  FQ_TRY(locked([&]() -> Result<void> {
    const SegmentHeader& shared = header();
    still_oldest = shared.oldest_file == number && oldest_is_dead();
    if (!still_oldest) return {};
    const JournalSlot& slot = stream().table().slot(number);
    recycle = slot.state == FileState::sealed && shared.newest_file - shared.current_file < kReadyFilesKept;
    bytes = slot.bytes;
    key.number = shared.newest_file + 1;
    return {};
  }));
  if (!still_oldest) return {};
  session_->files.forget(number);
  Disk& disk = attachment_->disk();
  if (recycle) {
    fill_random(&key.salt, sizeof key.salt);
    // What cannot be recycled (half-way by somebody who died) is removed.
    recycle = supply_recycled_file(disk, number, FileHeader{key, gate().now().wall_ms}).ok();
  }
  if (!recycle) {
    Result<void> removed = disk.remove(journal_file_name(number));
    if (!removed.ok() && removed.error().sys != ENOENT) return removed;
    FQ_TRY(disk.sync_directory("journal"));
  }
  FQ_POINT("compaction.removed");
  return locked([&]() -> Result<void> {
    SegmentHeader& shared = header();
    if (shared.oldest_file != number) return {};
    Txn txn = store().begin();
    txn.set(stream().table().slot(number).state, FileState::none);
    txn.set(shared.oldest_file, number + 1);
    if (recycle && shared.newest_file + 1 == key.number) stream().table().add_ready(txn, key, bytes);
    txn.commit();
    return {};
  });
}

/// Some messages whose payload lies in the oldest file, from where the last look (perhaps another process's)
/// stopped. True: this one has come to the end of all messages.
Result<bool> LocalQueue::find_in_oldest(std::vector<InOldest>& found) {
  bool at_end = false;
  FQ_TRY(locked([&]() -> Result<void> {
    SegmentHeader& shared = header();
    found.clear();
    const JournalSlot& oldest = stream().table().slot(shared.oldest_file);
    const uint32_t from = shared.copied_file == shared.oldest_file ? shared.copied_slots.get() : 0;
    uint64_t bytes = 0;
    uint32_t walked = 0;
    std::optional<SlotIndex> slot = schedule().next_slot(SlotIndex{from});
    for (; slot && walked < kSlotsPerStep && bytes < kCopyBytesPerStep; ++walked) {
      const Entry& entry = schedule().entry(*slot);
      const uint64_t position = entry.item_position;
      if (position >= oldest.start && position < oldest.end) {
        found.push_back({MessageId{entry.id.get()}, position});
        bytes += entry.payload_bytes + kRecordOverheadBytes;
      }
      slot = schedule().next_slot(SlotIndex{static_cast<uint32_t>(*slot) + 1});
    }
    Txn txn = store().begin();
    txn.set(shared.copied_file, shared.oldest_file);
    // At the end it begins again: messages may have taken slots behind us meanwhile.
    txn.set(shared.copied_slots, slot ? static_cast<uint32_t>(*slot) : 0);
    txn.commit();
    at_end = !slot;
    return {};
  }));
  return at_end;
}

Result<void> LocalQueue::copy_forward() {
  std::vector<InOldest> found;
  FQ_TRY_SET([[maybe_unused]] const bool at_end, find_in_oldest(found));
  for (const InOldest& each : found) {
    FQ_TRY_SET([[maybe_unused]] const Copied copied, copy_message(each.id, each.item_position));
  }
  return {};
}

Result<LocalQueue::Copied> LocalQueue::copy_message(MessageId id, uint64_t item_position) {
  Carried carried;
  carried.wall_minus_boot_ms = header().wall_minus_boot_ms.peek();
  std::optional<Looked> looked;
  std::array<uint64_t, kWaitsMax> ids;
  carried.waits.reserve(ids.size());  // nothing is allocated under the lock
  FQ_TRY(locked([&]() -> Result<void> {
    looked.reset();
    const std::optional<SlotIndex> slot = schedule().find(id);
    if (slot && schedule().entry(*slot).item_position == item_position) {
      looked = look_at(*slot);
      carried.waits.resize(schedule().waits_of(*slot, ids));
      std::copy_n(ids.begin(), carried.waits.size(), carried.waits.begin());
    }
    return {};
  }));
  if (!looked) return Copied::gone;
  if (!looked->place) return Copied::unreadable;
  StoredItem stored;
  FQ_TRY_SET(const bool found, session_->reader.read(*looked->place, stored));
  if (!found) return Copied::unreadable;
  FQ_TRY(carry(*looked, stored, carried));
  encode_moved(body_, carried.record);
  if (!decode_moved(body_.bytes, &carried.item_offset)) return Copied::gone;
  const uint64_t bytes = padded(kRecordHeaderBytes + body_.bytes.size());
  Obstacle obstacle = Obstacle::none;
  bool moved = false;
  FQ_TRY(locked([&]() -> Result<void> {
    obstacle = event_obstacle(bytes);
    if (obstacle == Obstacle::none && !stream().leaves_closing_room(bytes, 0))
      obstacle = Obstacle::closing_room;
    if (obstacle == Obstacle::none) moved = append_moved(*looked, item_position, carried);
    return {};
  }));
  if (obstacle != Obstacle::none) FQ_TRY(overcome(obstacle, Need{}));
  return moved ? Copied::moved : Copied::again;
}

/// All that is known of a message, so that it needs no older file.
Result<void> LocalQueue::carry(const Looked& looked, const StoredItem& stored, Carried& carried) {
  MovedRecord& moved = carried.record;
  moved.id = MessageId{looked.id};
  moved.pushed_wall_ms = stored.item.pushed_wall_ms;
  moved.message = stored.item;
  // What of them still holds.
  if (std::optional<MessageTerms> terms = decode_terms(stored.item.terms)) {
    terms->ttl_ms = looked.ttl_ms;
    terms->expired = looked.expired;
    if (!looked.has_key) terms->key = {};
    if (!looked.has_key) terms->debounced = false;
    terms->key_lost = looked.key_lost;
    carried.after = after_now(terms->after, carried.waits);
    terms->after = carried.after;
    carried.terms = encode_terms(*terms);
  }
  moved.message.terms = carried.terms;
  moved.attempts = looked.attempts;
  moved.attempts_max = looked.attempts_max;
  moved.crashes = looked.crashes;
  moved.deliveries = looked.deliveries;
  moved.serial = Serial{looked.serial};
  moved.pid = static_cast<uint32_t>(looked.pid);
  moved.state_wall_ms = looked.at_wall_ms;
  moved.state = looked.slot_state;
  FQ_TRY(walk_events(looked.id, looked.event_position,
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
bool LocalQueue::append_moved(const Looked& looked, uint64_t item_position, const Carried& carried) {
  const std::optional<SlotIndex> slot = schedule().find(MessageId{looked.id});
  if (!slot) return false;
  const Entry& entry = schedule().entry(*slot);
  if (header().wall_minus_boot_ms != carried.wall_minus_boot_ms) return false;
  if (entry.item_position != item_position || entry.event_position != looked.event_position ||
      entry.serial != looked.serial || static_cast<SlotState>(entry.state.get()) != looked.slot_state) {
    return false;
  }
  Txn txn = store().begin();
  const Now now = gate().in_order(txn, gate().now());
  const uint64_t position = stream().append(txn, body_, MessageId{0}, now.wall_ms);
  gate().apply().moved(txn, carried.record, position, position + kRecordHeaderBytes + carried.item_offset,
                       HolderIndex{entry.holder.get()}, now.wall_ms);
  FQ_POINT("compaction.moved");
  txn.commit();
  stream().publish();
  return true;
}

Result<void> LocalQueue::maintain(int64_t budget_ms) {
  const int64_t until_ms = clock_.boot_ms() + budget_ms;
  FQ_TRY(reap_dead(gate().now()));
  FQ_TRY(settle_held());
  FQ_TRY(drop_old_dead());
  do {
    bool fired = false;
    bool due = false;
    FQ_TRY(locked([&]() -> Result<void> {
      fired = gate().fire_timers(gate().now());
      due = oldest_is_dead() || oldest_is_sparse();
      return {};
    }));
    if (due) FQ_TRY(compact_step());
    if (!fired && !due) break;
  } while (clock_.boot_ms() < until_ms);
  return session_->flusher.wait_durable(header().committed_end.load(std::memory_order_acquire));
}

}  // namespace fq
