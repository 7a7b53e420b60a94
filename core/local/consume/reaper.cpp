#include "core/local/consume/reaper.h"

// System.
#include <unistd.h>

#include <algorithm>
#include <utility>
// fq, below us.
#include "core/base/fault_point.h"
// fq, this room.
#include "core/local/files/jobs/outputs.h"

namespace fq {

namespace {

constexpr size_t kHeldPerLook = 64;  // under one hold of the lock

// What survivors keep is asked for again after so many times what that takes, by all consumers together: it
// costs at most a twentieth of one processor, however much it is.
constexpr int64_t kAskingShare = 20;

}  // namespace

/// A process that died while it held messages, and how far these were looked at.
struct Reaper::Dead {
  HolderIndex holder{};
  ProcessName process;
  int64_t found_at_ms = 0;
  bool holds = false;     // anything at all
  bool wrote = false;     // outputs of jobs, or it is not known
  bool overdue = false;   // what its jobs left behind has had its time
  bool returned = false;  // some of it came back by this look
  std::vector<RunFile::Name> part;
  std::optional<MessageId> last_kept;  // by what a job left behind
};

std::vector<HolderIndex> Reaper::dead_holders() {
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

Result<void> Reaper::reap_dead(const Now& now) {
  reaped_at_ms_ = now.boot_ms == 0 ? 1 : now.boot_ms;
  const bool had_orphans = std::exchange(orphans_, false);
  for (const HolderIndex holder : dead_holders()) FQ_TRY(reap(holder));
  if (orphans_ && !had_orphans) orphans_since_ms_ = now.boot_ms;
  return {};
}

/// Before a look tells who holds what: what only the dead held comes back first. Where that cannot be, on a
/// full disk say, the look goes on all the same.
void Reaper::reap_before_look() {
  survivors_.reset();
  static_cast<void>(reap_all(gate().now()));
}

/// The process that holds it by living: its consumer, or where that is dead one that its job left behind.
/// None: it is held by time, or by nobody that we may look at.
std::optional<int> Reaper::keeper_of(const Snapshot& snapshot) {
  if (!snapshot.holder_is_dead) return snapshot.pid == 0 ? std::nullopt : std::optional(snapshot.pid);
  if (!survivors_) {
    Result<RunningJobs> jobs = RunningJobs::open(disk());
    survivors_ = jobs.ok() ? jobs->processes() : std::vector<OfdLock>();
  }
  const ProcessName dead{static_cast<uint32_t>(snapshot.pid), snapshot.pid_started};
  const int pid = RunningJobs::keeper(*survivors_, snapshot.id, dead);
  return pid == 0 ? std::nullopt : std::optional(pid);
}

Result<void> Reaper::reap(HolderIndex holder) {
  Dead dead;
  dead.holder = holder;
  dead.part.reserve(kHeldPerLook);
  FQ_TRY_SET(const bool due, find_dead(dead));
  if (!due) return {};
  if (!dead.holds) return free_dead(dead);
  FQ_TRY_SET(RunningJobs jobs, RunningJobs::open(disk()));
  if (!dead.overdue && jobs.keep_all(dead.process)) return note_kept(dead);
  for (;;) {
    FQ_TRY(find_held(dead));
    if (dead.part.empty()) break;
    for (const RunFile::Name& run : dead.part) {
      const bool kept = !dead.overdue && jobs.keep(number(run.id));
      if (kept) dead.last_kept = run.id;
      if (kept) continue;
      dead.returned = true;
      drop_unfinished(disk(), run, dead.process.pid);
      FQ_TRY(return_from_dead(dead, run.id));
    }
  }
  return dead.last_kept ? note_kept(dead) : free_dead(dead);
}

/// Whether it is dead, and to be looked at now. Another consumer may have done it, and a new one live there.
Result<bool> Reaper::find_dead(Dead& dead) {
  bool due = false;
  FQ_TRY(locked([&]() -> Result<void> {
    const HolderSlot& slot = header().holders[static_cast<uint16_t>(dead.holder)];
    dead.process = {slot.pid, slot.started};
    dead.found_at_ms = gate().now().boot_ms;
    dead.wrote = slot.slots != 0 || slot.carried != 0;
    dead.holds = schedule().views().first_held(dead.holder).has_value();
    const bool limited = slot.orphaned_at_ms != 0 && slot.job_limit_ms != kNever;
    dead.overdue = limited && dead.found_at_ms - slot.orphaned_at_ms > slot.job_limit_ms;
    due = is_dead(dead) && (dead.overdue || dead.found_at_ms >= slot.ask_again_at_ms);
    if (is_dead(dead) && !due) orphans_ = true;
    return {};
  }));
  return due;
}

/// Needs: the lock.
bool Reaper::is_dead(const Dead& dead) {
  const HolderSlot& slot = header().holders[static_cast<uint16_t>(dead.holder)];
  if (slot.pid == 0 || dead.process != ProcessName{slot.pid, slot.started}) return false;
  return slot.carried != 0 || slot.life.is_dead();
}

/// Needs: the lock.
std::optional<SlotIndex> Reaper::find_held(const Dead& dead, MessageId id) {
  const std::optional<SlotIndex> slot = schedule().messages().find(id);
  if (!slot || !is_dead(dead)) return std::nullopt;
  const Entry& entry = schedule().messages().entry(*slot);
  const bool held = HolderIndex{entry.holder.get()} == dead.holder &&
                    static_cast<SlotState>(entry.state.get()) == SlotState::leased;
  return held ? slot : std::nullopt;
}

/// The next part of what it holds, behind the last that is kept: all others that were found are gone.
Result<void> Reaper::find_held(Dead& dead) {
  return locked([&]() -> Result<void> {
    dead.part.clear();
    if (!is_dead(dead)) return {};
    // Where that one has ended meanwhile, it begins again: what is left is less each time.
    const auto last = dead.last_kept ? find_held(dead, *dead.last_kept) : std::nullopt;
    auto held = last ? schedule().views().next_held(*last) : schedule().views().first_held(dead.holder);
    for (; held && dead.part.size() < kHeldPerLook; held = schedule().views().next_held(*held)) {
      const Entry& entry = schedule().messages().entry(*held);
      dead.part.push_back({MessageId{entry.id.get()}, entry.deliveries});
    }
    return {};
  });
}

/// What its jobs left behind keeps some: that has its time from when this was seen first.
Result<void> Reaper::note_kept(const Dead& dead) {
  orphans_ = true;
  return locked([&]() -> Result<void> {
    if (!is_dead(dead)) return {};
    HolderSlot& slot = header().holders[static_cast<uint16_t>(dead.holder)];
    const int64_t now_ms = gate().now().boot_ms;
    Txn txn = store().begin();
    if (slot.orphaned_at_ms == 0) txn.set(slot.orphaned_at_ms, std::max<int64_t>(1, now_ms));
    const int64_t asking_ms = dead.returned ? 0 : now_ms - dead.found_at_ms;
    txn.set(slot.ask_again_at_ms, now_ms + kAskingShare * asking_ms);
    txn.commit();
    return {};
  });
}

Result<void> Reaper::return_from_dead(const Dead& dead, MessageId id) {
  return writer_.write_event([&]() -> Result<Obstacle> {
    const std::optional<SlotIndex> held = find_held(dead, id);
    if (!held) return Obstacle::none;
    // One whose job slept has come to its end.
    const bool slept = schedule().messages().is_suspended(schedule().messages().entry(*held));
    const RecordType type = slept ? RecordType::released : RecordType::died;
    const uint64_t bytes = event_record_bytes(type, 1);
    const Obstacle obstacle = writer_.room_for_event(type, bytes);
    if (obstacle != Obstacle::none) return obstacle;
    if (slept)
      events_.return_lease(*held);
    else
      events_.append(type, *held);
    FQ_POINT("reap.returned");
    return Obstacle::none;
  });
}

/// Whatever it held has ended, or others have it: what its jobs were writing goes before nobody knows any
/// more that there was one that wrote.
Result<void> Reaper::free_dead(const Dead& dead) {
  if (dead.wrote) drop_forsaken_runs(disk());
  return locked([&]() -> Result<void> {
    if (!is_dead(dead) || schedule().views().first_held(dead.holder)) return {};
    HolderSlot& slot = header().holders[static_cast<uint16_t>(dead.holder)];
    Txn txn = store().begin();
    txn.set(slot.pid, 0);
    txn.set(slot.carried, 0);
    txn.set(slot.next_free, header().free_holder);
    txn.set(header().free_holder, static_cast<uint32_t>(dead.holder));
    txn.commit();
    FQ_POINT("reap.freed");
    return {};
  });
}

}  // namespace fq
