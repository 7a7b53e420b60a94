#include "core/local/care/dead_files.h"

// System.
#include <cerrno>
// fq, below us.
#include "core/base/fault_point.h"
#include "core/base/process_state.h"
// fq, this room.
#include "core/local/files/process_info.h"
#include "core/local/flush/file_supply.h"

namespace fq {

namespace {

constexpr int64_t kCompactionTimeoutMs = 100;  // another process is at it: fine

}  // namespace

/// Tells the journal that the oldest files are not needed any more, as many of them as are dead and pinned by
/// nothing; returns how many, 0 where there is no room to say so. Needs: the lock.
uint32_t DeadFiles::append_low() {
  SegmentHeader& shared = header();
  const JournalSize size(shared);
  const uint32_t dead = size.dead_files();
  uint32_t count = 0;
  while (count < dead && !size.is_pinned(shared.oldest_file + count)) ++count;
  if (count == 0) return 0;
  LowRecord low;
  low.file_number = shared.oldest_file + count;
  low.counts = schedule().past().counts();
  low.id_limit = shared.id_limit;
  low.serial_limit = shared.serial_limit;
  low.counts.pushed += shared.pending_messages;
  encode_low(body_, low);
  // The CLOCK record behind it is no longer than LOW.
  if (writer_.room_for(Purpose::care, 2 * record_bytes(body_)) != Obstacle::none) return 0;
  Change change(link_);
  change.append(Purpose::care, body_);
  // The boot and the clock are known from a record too, which may lie in a file that goes.
  ClockRecord clock;
  std::memcpy(clock.boot_id, link_.attachment().kernel().boot_id, sizeof clock.boot_id);
  clock.wall_minus_boot_ms = shared.wall_minus_boot_ms;
  encode_clock(body_, clock);
  change.append(Purpose::care, body_);
  change.commit();
  return count;
}

/// Nobody waits for it, so nothing else would say why the journal does not get smaller.
void DeadFiles::tell_stopped_holder() {
  const int holder = header().compaction.holder();
  if (holder == told_holder_ || !is_stopped(holder)) return;
  told_holder_ = holder;
  notice(held_by(object() + ": journal files that can go are held", holder).text);
}

Result<uint32_t> DeadFiles::drop() {
  // Where somebody is at it, or was stopped in the midst of it, nothing is written for nothing.
  RobustMutex& compaction = header().compaction;
  if (!compaction.take_whole(0)) return tell_stopped_holder(), 0u;
  compaction.unlock();
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
  if (!compaction.take_whole(kCompactionTimeoutMs)) return 0u;
  uint32_t removed = 0;
  Result<void> failed;
  for (; removed < count && failed.ok(); ++removed) {
    const Result<bool> gone = remove_oldest(first + removed);
    if (!gone.ok()) failed = gone.error();
    if (!gone.ok() || !*gone) break;
  }
  compaction.unlock();
  if (!failed.ok()) return std::move(failed).error();
  return removed;
}

/// False: it is not the oldest any more. Needs: the compaction lock, and that LOW is durable.
Result<bool> DeadFiles::remove_oldest(uint32_t number) {
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

}  // namespace fq
