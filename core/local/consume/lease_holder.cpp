#include "core/local/consume/lease_holder.h"

// System.
#include <unistd.h>

#include <algorithm>
// fq, below us.
#include "core/base/fault_point.h"

namespace fq {

Result<void> LeaseHolder::become() {
  // A process that takes a message may start a child for it.
  store().memory().keep_from_children();
  // Should our leases outlive the segment.
  link_.find_started();
  return locked([&]() -> Result<void> {
    SegmentHeader& shared = header();
    const uint32_t free = shared.free_holder;
    const uint32_t index = free == kNoIndex ? shared.holders_used.get() : free;
    if (index >= kHoldersMax) {
      return Error{ErrorKind::later,
                   object() + ": " + std::to_string(kHoldersMax) + " consumers are at work, the limit", 0};
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
    txn.set(slot.started, link_.started());
    txn.set(slot.carried, 0);
    txn.set(slot.job_limit_ms, 0);
    txn.set(slot.orphaned_at_ms, 0);
    txn.set(slot.ask_again_at_ms, 0);
    txn.set(slot.since_ms, std::max<int64_t>(1, gate().now().boot_ms));
    note_attendance(txn, slot);
    txn.commit();
    link_.set_holder(static_cast<HolderIndex>(index));
    return {};
  });
}

void LeaseHolder::note_attendance(Txn& txn, HolderSlot& slot) {
  txn.set(slot.slots, attendance_.slots);
  txn.set(slot.messages, attendance_.messages);
}

Result<void> LeaseHolder::attend(const Attendance& attendance) {
  attendance_ = attendance;
  if (!link_.holder()) return {};
  return locked([&]() -> Result<void> {
    if (!link_.holder()) return {};
    Txn txn = store().begin();
    note_attendance(txn, link_.holder_slot());
    txn.commit();
    return {};
  });
}

bool LeaseHolder::leave() {
  if (!link_.holder()) return true;
  const HolderIndex own = *link_.holder();
  // What was not settled is given back uncounted; what cannot be given back now is when we are gone.
  for (bool more = true; more;) {
    const Result<void> given = writer_.write_event([&]() -> Result<Obstacle> {
      more = false;
      // The segment may have been replaced while we came in: then our leases are carried by pid.
      if (!link_.holder()) return Obstacle::none;
      const std::optional<SlotIndex> slot = schedule().views().first_held(own);
      if (!slot) return Obstacle::none;
      const uint64_t bytes = event_record_bytes(RecordType::released, 1);
      const Obstacle obstacle = writer_.room_for_event(RecordType::released, bytes);
      more = true;
      if (obstacle == Obstacle::none) events_.return_lease(*slot);
      return obstacle;
    });
    if (!given.ok()) break;
  }
  if (!link_.holder()) return true;
  bool is_over = false;
  static_cast<void>(locked([&]() -> Result<void> {
    is_over = !link_.holder();
    if (is_over || schedule().views().first_held(own)) return {};
    HolderSlot& slot = header().holders[static_cast<uint16_t>(own)];
    Txn txn = store().begin();
    txn.set(slot.pid, 0);
    txn.set(slot.next_free, header().free_holder);
    txn.set(header().free_holder, static_cast<uint32_t>(own));
    txn.commit();
    slot.life.end();
    is_over = true;
    return {};
  }));
  link_.forget_holder();
  return is_over;
}

Result<void> LeaseHolder::note_job_limit(std::optional<int64_t> limit_ms) {
  if (!link_.holder()) return {};
  // The longest of all its jobs holds for each: it only matters after a death.
  const int64_t wanted_ms = limit_ms.value_or(kNever);
  Shared<int64_t>& known = link_.holder_slot().job_limit_ms;
  if (known.peek() >= wanted_ms) return {};
  return locked([&]() -> Result<void> {
    if (!link_.holder()) return {};
    Txn txn = store().begin();
    txn.set(link_.holder_slot().job_limit_ms, wanted_ms);
    txn.commit();
    return {};
  });
}

Result<std::optional<int>> LeaseHolder::hold_for_job(std::span<const MessageId> ids,
                                                     std::optional<int64_t> limit_ms) {
  FQ_TRY(note_job_limit(limit_ms));
  std::vector<uint64_t> numbers;
  for (const MessageId id : ids) numbers.push_back(number(id));
  return RunningJobs::hold(disk(), numbers, {static_cast<uint32_t>(::getpid()), link_.started()});
}

}  // namespace fq
