#include "core/local/look/roll.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/host_name.h"
#include "core/base/process_state.h"

namespace fq {

namespace {

constexpr size_t kIdsPerLook = 256;  // under one hold of the lock

}  // namespace

/// A holder as its slot of the segment tells of it.
struct Roll::AttendeeSnapshot {
  HolderIndex index{};
  ProcessName process;
  Attendance attendance;
  bool carried = false;
  bool dead = false;
  std::optional<int64_t> since_wall_ms;
};

std::vector<Roll::AttendeeSnapshot> Roll::seen() {
  std::vector<AttendeeSnapshot> all;
  all.reserve(kHoldersMax);
  static_cast<void>(locked([&]() -> Result<void> {
    all.clear();
    for (uint32_t i = 0; i < header().holders_used; ++i) {
      const HolderSlot& slot = header().holders[i];
      if (slot.pid == 0) continue;
      AttendeeSnapshot one;
      one.index = static_cast<HolderIndex>(i);
      one.process = {slot.pid, slot.started};
      one.attendance = {slot.slots, slot.messages};
      one.carried = slot.carried != 0;
      one.dead = slot.carried == 0 && slot.life.is_dead();
      const int64_t since_ms = slot.orphaned_at_ms != 0 ? slot.orphaned_at_ms : slot.since_ms;
      if (since_ms != 0) one.since_wall_ms = store().wall_of(since_ms);
      all.push_back(one);
    }
    return {};
  }));
  for (AttendeeSnapshot& one : all) {
    if (one.carried)
      one.dead = one.process.started == 0 || process_started(one.process.pid) != one.process.started;
  }
  return all;
}

Result<std::vector<MessageId>> Roll::held_by(const AttendeeSnapshot& holder) {
  std::vector<MessageId> ids;
  for (bool more = true; more;) {
    ids.reserve(ids.size() + kIdsPerLook);
    const size_t known = ids.size();
    FQ_TRY(locked([&]() -> Result<void> {
      more = false;
      ids.resize(known);
      const HolderSlot& slot = header().holders[static_cast<uint16_t>(holder.index)];
      if (holder.process != ProcessName{slot.pid, slot.started}) return {};
      std::optional<SlotIndex> next = schedule().views().first_held(holder.index);
      if (known > 0) {
        // Where the last one has ended meanwhile the rest is not told.
        next = schedule().messages().find(ids.back());
        if (!next) return {};
        const Entry& last = schedule().messages().entry(*next);
        const bool held = static_cast<SlotState>(last.state.get()) == SlotState::leased &&
                          HolderIndex{last.holder.get()} == holder.index;
        next = held ? schedule().views().next_held(*next) : std::nullopt;
      }
      for (; next && ids.size() < known + kIdsPerLook; next = schedule().views().next_held(*next))
        ids.push_back(MessageId{schedule().messages().entry(*next).id.get()});
      more = next.has_value();
      return {};
    }));
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

/// What a dead worker's jobs keep, by the process that keeps it.
void Roll::add_orphans(const AttendeeSnapshot& dead, const std::vector<MessageId>& ids,
                       std::vector<Attendee>& all) {
  const size_t first = all.size();
  for (const MessageId id : ids) {
    Snapshot held;
    held.id = number(id);
    held.pid = static_cast<int>(dead.process.pid);
    held.pid_started = dead.process.started;
    held.holder_is_dead = true;
    const int pid = reaper_.keeper_of(held).value_or(0);
    auto orphan = std::find_if(all.begin() + static_cast<std::ptrdiff_t>(first), all.end(),
                               [pid](const Attendee& each) { return each.pid == pid; });
    if (orphan == all.end()) {
      all.emplace_back();
      orphan = all.end() - 1;
      orphan->kind = Attendee::Kind::orphan;
      orphan->pid = pid;
      orphan->since_wall_ms = dead.since_wall_ms;
    }
    orphan->ids.push_back(id);
  }
}

Result<std::vector<Attendee>> Roll::call() {
  std::vector<Attendee> all;
  for (const AttendeeSnapshot& holder : seen()) {
    FQ_TRY_SET(std::vector<MessageId> ids, held_by(holder));
    if (holder.dead) {
      add_orphans(holder, ids, all);
      continue;
    }
    const uint32_t slots = holder.attendance.slots;
    if (slots == 0 && ids.empty()) continue;
    Attendee one;
    one.kind = slots == 0 ? Attendee::Kind::holder : Attendee::Kind::worker;
    one.pid = static_cast<int>(holder.process.pid);
    one.slots = slots;
    one.stopped = slots != 0 && is_stopped(one.pid);
    const size_t of_one = std::max(holder.attendance.messages, 1U);
    one.busy = static_cast<uint32_t>(std::min<size_t>(slots, (ids.size() + of_one - 1) / of_one));
    one.since_wall_ms = holder.since_wall_ms;
    one.ids = std::move(ids);
    all.push_back(std::move(one));
  }
  for (Attendee& one : all) one.host = host_name();
  return all;
}

}  // namespace fq
