// housekeeping - journal files given back, so that the journal is no larger than what lives allows.
//
// journal_size.h says what is too large. A file whose messages have all ended is dropped: LOW is made
// durable, then the file is recycled or removed; what keys and settings it alone tells is carried forward
// first, and of a file that few live messages pin, these (compaction.cpp). Files that were made for a larger
// queue make place for smaller ones. Payloads beside the journal that the dead left go too (loose_blobs.h).
//
// What was written and what has died sets it going, not who asks: whoever ends messages looks whether
// something is due, and whoever needs another journal file, pushes included, does what is due before one is
// made. The compaction lock is held while files change, not while the disk is waited for.
#include "core/local/care/local_care.h"

// System.
#include <algorithm>
#include <cerrno>
// fq, below us.
#include "core/base/fault_point.h"
#include "core/base/step_count.h"
// fq, this room.
#include "core/local/flush/file_supply.h"
#include "core/local/consume/endings.h"
#include "core/local/shared/loose_blobs.h"

namespace fq {

namespace {

constexpr int64_t kCompactionTimeoutMs = 100;  // another process is at it: fine
constexpr int kHouseStepsMax = 100'000;        // of at most 1 MiB; against a step that does nothing for ever

}  // namespace

Result<bool> LocalQueue::do_housework(Housework work) {
  switch (work) {
    case Housework::none:
      return false;
    case Housework::orphans:
      FQ_TRY(Care(*this).remove_orphans());
      return true;
    case Housework::sync:
      FQ_TRY(link_.wait_all_durable());
      return true;
    case Housework::drop: {
      FQ_TRY_SET(const uint32_t dropped, drop_dead_files());
      return dropped > 0;
    }
    case Housework::carry:
      FQ_TRY(carry_all());
      return true;
    case Housework::copy:
      return copy_forward();
    case Housework::shrink:
      return shrink();
  }
  return false;
}

Result<bool> LocalQueue::keep_house() {
  is_due_ = false;
  // What housework itself is in need of is made, and not kept house for.
  if (keeping_house_) return false;
  keeping_house_ = true;
  FQ_STEPS_ARE_SHARED();
  bool gave = false;
  Result<void> kept;
  for (int step = 0; step < kHouseStepsMax; ++step) {
    Housework work = Housework::none;
    kept = locked([&]() -> Result<void> { return work = due_housework(header()), Result<void>(); });
    if (!kept.ok() || work == Housework::none) break;
    const Result<bool> done = do_housework(work);
    if (!done.ok()) kept = done.error();
    if (!done.ok() || !*done) break;
    gave = gave || work == Housework::drop || work == Housework::shrink;
  }
  keeping_house_ = false;
  if (!kept.ok()) return std::move(kept).error();
  return gave;
}

/// So that the oldest file need not be kept for what only old records tell. A walk that was broken off, by a
/// death too, goes on where it was.
Result<void> LocalQueue::carry_all() {
  FQ_TRY(carry_pinned(&SegmentHeader::run_time_settings, [this] { return carry_some_settings(); }));
  KeysRecord record;
  record.keys.reserve(kKeysPerRecord);  // nothing is allocated under the lock
  house_body_.bytes.reserve(64 * 1024);
  FQ_TRY(carry_pinned(&SegmentHeader::kept_keys, [&] { return carry_some_keys(record); }));
  return carry_replaced();
}

/// `some` takes one step of the walk. Needs: not the lock.
template <class Some>
Result<void> LocalQueue::carry_pinned(Pin SegmentHeader::*what, Some&& some) {
  for (bool more = true; more;) {
    FQ_TRY(writer_.write([&]() -> Result<Obstacle> {
      more = begin_walk(header().*what);
      return more ? some() : Obstacle::none;
    }));
  }
  return {};
}

/// False: the oldest file is not pinned by it. Needs: the lock.
bool LocalQueue::begin_walk(Pin& pin) {
  if (!JournalSize(header()).pins(pin, header().oldest_file)) return false;
  if (pin.walk_from != 0) return true;
  Txn txn = store().begin();
  // 0 says that there is none; nothing begins there that has to be pin.
  txn.set(pin.walk_from, std::max<uint64_t>(1, header().tail));
  txn.set(pin.walk_next, 0);
  txn.set(pin.since, UINT64_MAX);
  txn.commit();
  return true;
}

/// What lies before `next` was written down anew; `at_end`: that is all.
void LocalQueue::note_walked(Txn& txn, Pin& pin, uint32_t next, bool at_end) {
  txn.set(pin.walk_next, next);
  if (!at_end) return;
  txn.set(pin.record, std::min<uint64_t>(pin.walk_from, pin.since));
  txn.set(pin.walk_from, 0);
}

/// Tells the journal that the oldest files are not needed any more, as many of them as are dead and pinned by
/// nothing; returns how many, 0 where there is no room to say so. Needs: the lock.
uint32_t LocalQueue::append_low() {
  SegmentHeader& shared = header();
  const JournalSize size(shared);
  const uint32_t dead = size.dead_files();
  uint32_t count = 0;
  while (count < dead && !size.is_pinned(shared.oldest_file + count)) ++count;
  if (count == 0) return 0;
  LowRecord low;
  low.file_number = shared.oldest_file + count;
  low.counts = schedule().counts();
  low.id_limit = shared.id_limit;
  low.serial_limit = shared.serial_limit;
  low.counts.pushed += shared.pending_messages;
  encode_low(house_body_, low);
  // The CLOCK record behind it is no longer than LOW.
  if (writer_.room_for(Purpose::care, 2 * record_bytes(house_body_)) != Obstacle::none) return 0;
  Change change(link_, gate().now());
  change.append(house_body_);
  // The boot and the clock are known from a record too, which may lie in a file that goes.
  ClockRecord clock;
  std::memcpy(clock.boot_id, link_.attachment().kernel().boot_id, sizeof clock.boot_id);
  clock.wall_minus_boot_ms = shared.wall_minus_boot_ms;
  encode_clock(house_body_, clock);
  change.append(house_body_);
  change.commit();
  return count;
}

/// Returns how many were given back; others may have done it instead.
Result<uint32_t> LocalQueue::drop_dead_files() {
  uint32_t first = 0, count = 0;
  uint64_t low_end = 0;
  FQ_TRY(locked([&]() -> Result<void> {
    first = header().oldest_file;
    count = append_low();
    low_end = header().tail;
    return {};
  }));
  if (count == 0) return 0u;
  FQ_POINT("compaction.low");
  FQ_TRY(flusher().wait_durable(low_end));
  FQ_POINT("compaction.low_durable");
  SegmentHeader& shared = header();
  const Taken taken = shared.compaction.take(kCompactionTimeoutMs);
  if (taken == Taken::owner_died) shared.compaction.consistent();
  if (taken != Taken::clean && taken != Taken::owner_died) return 0u;
  uint32_t removed = 0;
  Result<void> failed;
  for (; removed < count && failed.ok(); ++removed) {
    const Result<bool> gone = remove_oldest_file(first + removed);
    if (!gone.ok()) failed = gone.error();
    if (!gone.ok() || !*gone) break;
  }
  shared.compaction.unlock();
  if (!failed.ok()) return std::move(failed).error();
  return removed;
}

/// False: it is not the oldest any more. Needs: the compaction lock, and that LOW is durable.
Result<bool> LocalQueue::remove_oldest_file(uint32_t number) {
  bool still_oldest = false;
  bool recycle = false;
  bool lost = false;
  FileKey key;
  uint64_t bytes = 0;
  FQ_TRY(locked([&]() -> Result<void> {
    SegmentHeader& shared = header();
    const JournalSize size(shared);
    still_oldest = shared.oldest_file == number && size.dead_files() > 0;
    if (!still_oldest) return {};
    const JournalSlot& slot = stream().table().slot(number);
    bytes = slot.bytes;
    // One that is not of use is taken again only where its room is needed.
    lost = slot.lost != 0;
    recycle = !lost && slot.state == FileState::sealed &&
              (size.may_keep(number) || !size.leaves_room(Purpose::event, 0));
    key.number = shared.newest_file + 1;
    return {};
  }));
  if (!still_oldest) return false;
  files().forget(number);
  if (recycle) {
    fill_random(&key.salt, sizeof key.salt);
    // What cannot be recycled (half-way by a process that died) is removed.
    recycle = supply_recycled_file(disk(), number, FileHeader{key, gate().now().wall_ms}).ok();
  }
  if (lost) {
    const Result<std::string> aside = set_file_aside(disk(), number);
    if (!aside.ok() && aside.error().sys != ENOENT) return aside.error();
  } else if (!recycle) {
    Result<void> removed = disk().remove(journal_file_name(number));
    if (!removed.ok() && removed.error().sys != ENOENT) return std::move(removed).error();
    FQ_TRY(disk().sync_directory("journal"));
  }
  FQ_POINT("compaction.removed");
  bool gone = false;
  FQ_TRY(locked([&]() -> Result<void> {
    SegmentHeader& shared = header();
    gone = shared.oldest_file == number;
    if (!gone) return {};
    Txn txn = store().begin();
    stream().table().remove_oldest(txn);
    if (recycle && shared.newest_file + 1 == key.number) stream().table().add_ready(txn, key, bytes);
    txn.commit();
    return {};
  }));
  return gone;
}

/// Files that were made for a larger queue, or that are too many: one after the other becomes the current one
/// and is left at once, so that it goes as any other does. False: their room is needed.
Result<bool> LocalQueue::shrink() {
  bool spares = false;
  FQ_TRY(locked([&]() -> Result<void> {
    spares = JournalSize(header()).can_spare(stream().table().current_room());
    return {};
  }));
  if (spares) FQ_TRY(leave_current_file());
  return spares;
}

Result<void> LocalQueue::maintain(int64_t budget_ms) {
  const int64_t until_ms = clock().boot_ms() + budget_ms;
  FQ_TRY(reaper_.reap_all(gate().now()));
  FQ_TRY(bring_up_to_date());
  endings_.notes().tend();
  for (bool fired = true; fired;) {
    FQ_TRY(locked([&]() -> Result<void> {
      fired = gate().fire_timers(gate().now());
      return {};
    }));
    if (clock().boot_ms() >= until_ms) break;
  }
  FQ_TRY(keep_house());
  return link_.wait_all_durable();
}

}  // namespace fq
