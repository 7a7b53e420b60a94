// holders - consumers that hold leases by living: how one becomes known, and what happens when it dies.
//
// A job that outlives its worker keeps its message: it inherited a descriptor with a lock on the byte of
// `running` that has its message's id for a number, or on the byte of all that its worker holds, and whoever
// buries the worker asks the kernel first.
#include "core/spool/local_queue.h"

// System.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
// fq, below us.
#include "core/base/fault_point.h"

namespace fq {

namespace {

// Busy consumers look at the life words at most so often; sleeping ones are woken by the kernel.
constexpr int64_t kReapIntervalMs = 10;

constexpr size_t kIdsPerLook = 64;

constexpr std::string_view kRunning = "running";

/// Shared: two workers of one pid, one after the other, may have the same byte of all.
struct flock lock_of(uint64_t byte, int type) {
  struct flock lock {};
  lock.l_type = static_cast<short>(type);
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(byte);
  lock.l_len = 1;
  return lock;
}

/// Stands for all that the process holds; far behind the ids.
uint64_t byte_of_all(uint32_t pid, uint64_t started) {
  constexpr uint64_t kFirst = uint64_t{1} << 62;
  constexpr uint64_t kStarts = uint64_t{1} << 30;
  return kFirst + pid * kStarts + started % kStarts;
}

Result<std::unique_ptr<File>> open_running(Disk& disk) {
  Result<std::unique_ptr<File>> opened = disk.open(kRunning, OpenMode::write);
  if (opened.ok() || opened.error().sys != ENOENT) return opened;
  opened = disk.open(kRunning, OpenMode::create_new);
  if (opened.ok() || opened.error().sys != EEXIST) return opened;
  return disk.open(kRunning, OpenMode::write);
}

}  // namespace

Result<void> LocalQueue::become_holder() {
  // Who takes a message may start a child for it.
  store().memory().keep_from_children();
  // Tells us from a later process with our pid, should our leases outlive the segment.
  if (started_ == 0) started_ = process_started(static_cast<uint32_t>(::getpid())).value_or(0);
  return locked([&]() -> Result<void> {
    SegmentHeader& shared = header();
    const uint32_t free = shared.free_holder;
    const uint32_t index = free == kNoIndex ? shared.holders_used.get() : free;
    if (index >= kHoldersMax) {
      return Error{
          ErrorKind::later,
          attachment_->object() + ": " + std::to_string(kHoldersMax) + " consumers are at work, the limit",
          0};
    }
    HolderSlot& slot = shared.holders[index];
    // The life lock first: a slot that is in use is always held by somebody, or by somebody dead.
    if (!slot.life.begin()) throw RegionDamaged{"a free holder slot is held"};
    FQ_POINT("holder.begun");
    Txn txn = store().begin();
    if (free == kNoIndex) {
      txn.set(shared.holders_used, index + 1);
    } else {
      txn.set(shared.free_holder, slot.next_free);
    }
    txn.set(slot.pid, static_cast<uint32_t>(::getpid()));
    txn.set(slot.started, started_);
    txn.set(slot.carried, 0);
    txn.set(slot.job_limit_ms, 0);
    txn.set(slot.orphaned_at_ms, 0);
    txn.commit();
    holder_ = static_cast<HolderIndex>(index);
    changes_seen_ = slot.changes;
    return {};
  });
}

void LocalQueue::leave_holder() {
  if (!holder_) return;
  const HolderIndex own = *holder_;
  // What was not settled is given back uncounted; what cannot be given back now is when we are gone.
  for (;;) {
    bool more = false;
    Obstacle obstacle = Obstacle::none;
    const Result<void> given = locked([&]() -> Result<void> {
      more = false;
      // The segment may have been replaced while we came in: then our leases are carried by pid.
      if (!holder_) return {};
      const std::optional<SlotIndex> slot = schedule().first_held(own);
      if (!slot) return {};
      const uint64_t bytes = event_record_bytes(RecordType::released, 1, EventDetail{});
      obstacle = event_obstacle(RecordType::released, bytes);
      more = true;
      if (obstacle != Obstacle::none) return {};
      append_event(RecordType::released, std::span(&*slot, 1), EventDetail{}, gate().now(), {});
      return {};
    });
    if (!given.ok() || !more) break;
    if (obstacle != Obstacle::none && !overcome_for_event(obstacle).ok()) break;
  }
  if (!holder_) return;
  static_cast<void>(locked([&]() -> Result<void> {
    if (!holder_ || schedule().first_held(own)) return {};
    HolderSlot& slot = header().holders[static_cast<uint16_t>(own)];
    Txn txn = store().begin();
    txn.set(slot.pid, 0);
    txn.set(slot.next_free, header().free_holder);
    txn.set(header().free_holder, static_cast<uint32_t>(own));
    txn.commit();
    slot.life.end();
    return {};
  }));
  holder_.reset();
}

std::vector<HolderIndex> LocalQueue::dead_holders() {
  std::vector<HolderIndex> dead;
  struct OtherHolder {
    HolderIndex index;
    uint32_t pid;
    uint64_t started;
  };
  std::vector<OtherHolder> carried;
  static_cast<void>(locked([&]() -> Result<void> {
    const SegmentHeader& shared = header();
    dead.clear();
    carried.clear();
    for (uint32_t i = 0; i < shared.holders_used; ++i) {
      const HolderSlot& slot = shared.holders[i];
      if (slot.pid == 0) continue;
      const auto index = static_cast<HolderIndex>(i);
      if (slot.carried != 0) carried.push_back({index, slot.pid, slot.started});
      if (slot.carried == 0 && slot.life.is_dead()) dead.push_back(index);
    }
    return {};
  }));
  for (const OtherHolder& holder : carried) {
    // The same pid with another start is another process.
    if (holder.started == 0 || process_started(holder.pid) != holder.started) dead.push_back(holder.index);
  }
  return dead;
}

Result<void> LocalQueue::note_job_limit(std::optional<int64_t> limit_ms) {
  if (!holder_) return {};
  // The longest of all its jobs holds for each: it only matters after a death.
  const int64_t wanted_ms = limit_ms.value_or(kNever);
  Shared<int64_t>& known = header().holders[static_cast<uint16_t>(*holder_)].job_limit_ms;
  if (known.peek() >= wanted_ms) return {};
  return locked([&]() -> Result<void> {
    if (!holder_) return {};
    Txn txn = store().begin();
    txn.set(header().holders[static_cast<uint16_t>(*holder_)].job_limit_ms, wanted_ms);
    txn.commit();
    return {};
  });
}

Result<std::optional<int>> LocalQueue::hold_for_job(std::span<const MessageId> ids,
                                                    std::optional<int64_t> limit_ms) {
  FQ_TRY(note_job_limit(limit_ms));
  FQ_TRY_SET(const std::unique_ptr<File> running, open_running(attachment_->disk()));
  if (running->descriptor() < 0) return std::optional<int>();
  std::vector<uint64_t> bytes;
  for (const MessageId id : ids) bytes.push_back(number(id));
  if (ids.empty()) bytes.push_back(byte_of_all(static_cast<uint32_t>(::getpid()), started_));
  // An open file of its own: the locks belong to that, and go with the last descriptor of it.
  for (const uint64_t byte : bytes) {
    struct flock lock = lock_of(byte, F_RDLCK);
    if (::fcntl(running->descriptor(), F_OFD_SETLK, &lock) != 0) {
      return sys_error("lock", attachment_->object() + ": running", errno);
    }
  }
  const int own = ::fcntl(running->descriptor(), F_DUPFD_CLOEXEC, 0);
  if (own < 0) return sys_error("dup", attachment_->object() + ": running", errno);
  return std::optional<int>(own);
}

Result<std::vector<uint64_t>> LocalQueue::running_jobs(const HeldByDead& held) {
  std::vector<uint64_t> alive;
  const Result<std::unique_ptr<File>> running = attachment_->disk().open(kRunning, OpenMode::write);
  if (!running.ok() && running.error().sys == ENOENT) return alive;
  if (!running.ok()) return running.error();
  const auto is_locked = [&](uint64_t byte) {
    struct flock lock = lock_of(byte, F_WRLCK);
    return ::fcntl((*running)->descriptor(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  };
  if (is_locked(byte_of_all(held.pid, held.started))) return held.ids;
  std::copy_if(held.ids.begin(), held.ids.end(), std::back_inserter(alive), is_locked);
  return alive;
}

Result<void> LocalQueue::reap_dead(const Now& now) {
  if (reaped_at_ms_ != 0 && now.boot_ms - reaped_at_ms_ < kReapIntervalMs) return {};
  reaped_at_ms_ = now.boot_ms == 0 ? 1 : now.boot_ms;
  const bool had_orphans = std::exchange(orphans_, false);
  for (const HolderIndex holder : dead_holders()) FQ_TRY(reap(holder));
  if (orphans_ && !had_orphans) orphans_since_ms_ = now.boot_ms;
  return {};
}

Result<bool> LocalQueue::find_held_by_dead(HolderIndex holder, HeldByDead& found) {
  bool dead = false;
  FQ_TRY(locked([&]() -> Result<void> {
    found.ids.clear();
    const HolderSlot& slot = header().holders[static_cast<uint16_t>(holder)];
    // Another consumer may have done it, and a new one may live there now.
    dead = slot.pid != 0 && (slot.carried != 0 || slot.life.is_dead());
    if (!dead) return {};
    found.pid = slot.pid;
    found.started = slot.started;
    for (auto held = schedule().first_held(holder); held && found.ids.size() < kIdsPerLook;
         held = schedule().next_held(*held)) {
      found.ids.push_back(schedule().entry(*held).id);
    }
    return {};
  }));
  return dead;
}

Result<void> LocalQueue::reap(HolderIndex holder) {
  HeldByDead held;
  held.ids.reserve(kIdsPerLook);
  for (;;) {
    FQ_TRY_SET(const bool dead, find_held_by_dead(holder, held));
    if (!dead) return {};
    if (held.ids.empty()) return free_dead(holder);
    FQ_TRY_SET(const std::vector<uint64_t> running, running_jobs(held));
    for (const uint64_t id : held.ids) {
      if (std::find(running.begin(), running.end(), id) == running.end())
        FQ_TRY(return_from_dead(holder, id));
    }
    if (running.empty()) continue;
    FQ_TRY_SET(const bool overdue, jobs_are_overdue(holder));
    for (const uint64_t id : running) {
      if (overdue) FQ_TRY(return_from_dead(holder, id));
    }
    if (overdue) continue;
    orphans_ = true;
    return {};
  }
}

Result<bool> LocalQueue::jobs_are_overdue(HolderIndex holder) {
  bool overdue = false;
  FQ_TRY(locked([&]() -> Result<void> {
    HolderSlot& slot = header().holders[static_cast<uint16_t>(holder)];
    const int64_t now_ms = gate().now().boot_ms;
    if (slot.orphaned_at_ms == 0) {
      Txn txn = store().begin();
      txn.set(slot.orphaned_at_ms, std::max<int64_t>(1, now_ms));
      txn.commit();
    }
    overdue = slot.job_limit_ms != kNever && now_ms - slot.orphaned_at_ms > slot.job_limit_ms;
    return {};
  }));
  return overdue;
}

Result<void> LocalQueue::return_from_dead(HolderIndex holder, uint64_t id) {
  for (;;) {
    Obstacle obstacle = Obstacle::none;
    FQ_TRY(locked([&]() -> Result<void> {
      obstacle = Obstacle::none;
      const std::optional<SlotIndex> held = schedule().find(MessageId{id});
      const Entry* entry = held ? &schedule().entry(*held) : nullptr;
      const HolderSlot& slot = header().holders[static_cast<uint16_t>(holder)];
      const bool still_dead = slot.pid != 0 && (slot.carried != 0 || slot.life.is_dead());
      const bool still_held = entry != nullptr && HolderIndex{entry->holder.get()} == holder &&
                              static_cast<SlotState>(entry->state.get()) == SlotState::leased;
      if (!still_held || !still_dead) return {};
      obstacle = event_obstacle(RecordType::died, event_record_bytes(RecordType::died, 1, EventDetail{}));
      if (obstacle != Obstacle::none) return {};
      append_event(RecordType::died, std::span(&*held, 1), EventDetail{}, gate().now(), {});
      FQ_POINT("reap.returned");
      return {};
    }));
    if (obstacle == Obstacle::none) return {};
    FQ_TRY(overcome_for_event(obstacle));
  }
}

Result<void> LocalQueue::free_dead(HolderIndex holder) {
  return locked([&]() -> Result<void> {
    HolderSlot& slot = header().holders[static_cast<uint16_t>(holder)];
    const bool still_dead = slot.pid != 0 && (slot.carried != 0 || slot.life.is_dead());
    if (!still_dead || schedule().first_held(holder)) return {};
    Txn txn = store().begin();
    txn.set(slot.pid, 0);
    txn.set(slot.carried, 0);
    txn.set(slot.next_free, header().free_holder);
    txn.set(header().free_holder, static_cast<uint32_t>(holder));
    txn.commit();
    FQ_POINT("reap.freed");
    return {};
  });
}

}  // namespace fq
