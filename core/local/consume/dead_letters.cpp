#include "core/local/consume/dead_letters.h"

// System.
#include <algorithm>
#include <array>

// fq, this room.
#include "core/local/read/step_reader.h"

namespace fq {

namespace {

constexpr size_t kDroppedMax = 16;  // of one record and transaction

}  // namespace

/// When the oldest dead letter has had its time; kNever where none has one. Needs: the lock.
int64_t DeadLetters::due_ms() {
  std::array<SlotIndex, 1> oldest;
  if (kept_ms() == kUnlimited || schedule().views().oldest_dead(oldest) == 0) return kNever;
  return schedule().messages().entry(oldest[0]).at_ms + kept_ms();
}

/// Cancels some that have had their time. Needs: the lock, and that their record finds room.
Obstacle DeadLetters::drop_some(const Now& now) {
  std::array<SlotIndex, kDroppedMax> slots;
  std::array<size_t, kDroppedMax> blobs_before;
  const size_t there = schedule().views().oldest_dead(slots);
  const int64_t kept_ms = std::min(this->kept_ms(), kLatestMs);
  size_t count = 0;
  Obstacle obstacle = Obstacle::none;
  while (count < there && schedule().messages().entry(slots[count]).at_ms + kept_ms <= now.boot_ms) {
    if (endings_.lacks_note(RecordType::cancelled, slots[count])) obstacle = Obstacle::note;
    blobs_before[count] = mutator_.blobs().size();
    const Entry& entry = schedule().messages().entry(slots[count++]);
    find_step_blobs(link_, entry, mutator_.blobs());
    if ((entry.flags & kEntryBlob) == 0) continue;
    if (const auto place = ItemReader::find_item(stream(), header(), entry))
      mutator_.blobs().push_back(*place);
  }
  if (obstacle != Obstacle::none) return obstacle;
  const size_t done = events_.append(RecordType::cancelled, std::span(slots).first(count), EventDetail{});
  // The others live, and may be kicked before their turn comes.
  if (done < count) mutator_.blobs().resize(blobs_before[done]);
  return Obstacle::none;
}

Result<void> DeadLetters::drop_due() {
  for (bool more = true; more;) {
    mutator_.reserve(kDroppedMax);
    const size_t blobs_before = mutator_.blobs().size();
    FQ_TRY(endings_.write_ends([&]() -> Result<Obstacle> {
      const Now now = gate().now();
      gate().fire_timers(now);
      more = due_ms() <= now.boot_ms;
      if (!more) return Obstacle::none;
      const uint64_t bytes = event_record_bytes(RecordType::cancelled, kDroppedMax);
      Obstacle obstacle = writer_.room_for_event(RecordType::cancelled, bytes);
      mutator_.blobs().resize(blobs_before);
      if (obstacle == Obstacle::none) obstacle = drop_some(now);
      return obstacle;
    }));
  }
  return mutator_.blobs().empty() ? Result<void>() : mutator_.finish();
}

}  // namespace fq
