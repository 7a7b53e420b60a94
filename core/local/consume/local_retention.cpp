// local_retention - dead letters are kept for `dead_retention`, and then cancelled by whoever is awake.
//
// Nothing is set for them when they die: the schedule has them in order, so a look at the first tells whether
// one has had its time, and another `dead_retention` holds for those that are there.
#include "core/local/local_queue.h"

// System.
#include <algorithm>
#include <array>
// fq, this room.
#include "core/local/files/blobs.h"
#include "core/local/consume/local_endings.h"

namespace fq {

namespace {

constexpr size_t kDroppedMax = 16;  // of one record and transaction

}  // namespace

/// When the oldest dead letter has had its time; kNever where none has one. Needs: the lock.
int64_t LocalQueue::dead_due_ms() {
  const int64_t kept_ms = header().settings.dead_retention_ms;
  std::array<SlotIndex, 1> oldest;
  if (kept_ms == kUnlimited || schedule().oldest_dead(oldest) == 0) return kNever;
  return schedule().entry(oldest[0]).at_ms + std::min(kept_ms, kNever / 4);
}

/// Cancels some that have had their time. Needs: the lock, and that their record finds room.
Obstacle LocalQueue::drop_some_dead(const Now& now, std::vector<ItemPlace>& blobs) {
  std::array<SlotIndex, kDroppedMax> slots;
  const size_t there = schedule().oldest_dead(slots);
  const int64_t kept_ms = std::min<int64_t>(header().settings.dead_retention_ms, kNever / 4);
  size_t count = 0;
  Obstacle obstacle = Obstacle::none;
  while (count < there && schedule().entry(slots[count]).at_ms + kept_ms <= now.boot_ms) {
    if (lacks_note(RecordType::cancelled, slots[count])) obstacle = Obstacle::note;
    const Entry& entry = schedule().entry(slots[count++]);
    if ((entry.flags & kEntryBlob) == 0) continue;
    if (const auto place = ItemReader::find_item(stream(), header(), entry)) blobs.push_back(*place);
  }
  if (obstacle != Obstacle::none) return obstacle;
  events_.append(RecordType::cancelled, std::span(slots).first(count), EventDetail{}, now);
  return Obstacle::none;
}

Result<void> LocalQueue::drop_old_dead() {
  if (header().settings.dead_retention_ms.peek() == kUnlimited) return {};
  std::vector<ItemPlace> blobs;
  for (bool more = true; more;) {
    blobs.reserve(blobs.size() + kDroppedMax);  // nothing is allocated under the lock
    const size_t blobs_before = blobs.size();
    FQ_TRY(endings().write_ends([&]() -> Result<Obstacle> {
      const Now now = gate().now();
      gate().fire_timers(now);
      more = dead_due_ms() <= now.boot_ms;
      if (!more) return Obstacle::none;
      const uint64_t bytes = event_record_bytes(RecordType::cancelled, kDroppedMax, EventDetail{});
      Obstacle obstacle = writer_.room_for_event(RecordType::cancelled, bytes);
      blobs.resize(blobs_before);
      if (obstacle == Obstacle::none) obstacle = drop_some_dead(now, blobs);
      return obstacle;
    }));
  }
  return blobs.empty() ? Result<void>() : finish_changes(blobs);
}

}  // namespace fq
