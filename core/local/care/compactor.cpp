#include "core/local/care/compactor.h"

// System.
#include <algorithm>
#include <array>
// fq, below us.
#include "core/base/fault_point.h"
#include "core/base/step_count.h"
// fq, this room.
#include "core/local/write/pin_walk.h"

namespace fq {

namespace {

constexpr uint64_t kCopyBytesPerStep = 1024 * 1024;
constexpr size_t kFoundPerStep = 4096;     // arbitrary; their room is made before the lock is taken
constexpr int kReplacedStepsMax = 10'000;  // against some that are replaced all the time
constexpr uint32_t kSlotsPerStep = 65536;  // walked under one hold of the lock: about 1 ms

}  // namespace

/// Some messages whose payload lies in the oldest file, from where the last look (perhaps another process's)
/// stopped. True: this one has come to the end of all messages.
Result<bool> Compactor::find_in_oldest(std::vector<InOldest>& found) {
  bool at_end = false;
  found.reserve(kFoundPerStep);
  FQ_TRY(locked([&]() -> Result<void> {
    SegmentHeader& shared = header();
    found.clear();
    const JournalSlot& oldest = stream().table().slot(shared.oldest_file);
    const uint32_t from = shared.copied_file == shared.oldest_file ? shared.copied_slots.get() : 0;
    uint64_t bytes = 0;
    const uint32_t end = schedule().views().slots_end();
    const uint32_t to = from < end ? from + std::min(kSlotsPerStep, end - from) : end;
    uint32_t slot = from;
    for (; slot < to && bytes < kCopyBytesPerStep && found.size() < kFoundPerStep; ++slot) {
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

/// The replaced ones from where the walk is, some of them; returns where the first of them is, or where the
/// look ended without any. Needs: the lock.
uint32_t Compactor::find_replaced(std::vector<InOldest>& found, size_t found_max) {
  found.clear();
  const uint32_t end = schedule().root().entry_supply.high_water;
  uint32_t at = header().replaced.walk_next;
  uint32_t first = end;
  uint64_t bytes = 0;
  const uint32_t to = at < end ? at + std::min(kSlotsPerStep, end - at) : end;
  for (; at < to && bytes < kCopyBytesPerStep && found.size() < found_max; ++at) {
    FQ_STEPS(1);
    const Entry& entry = schedule().messages().entry(SlotIndex{at});
    if (state_of(entry) == SlotState::free || !schedule().views().is_replaced(SlotIndex{at})) continue;
    first = std::min(first, at);
    found.push_back({MessageId{entry.id.get()}, entry.item_position});
    bytes += journal_bytes_of(entry);
  }
  return found.empty() ? at : first;
}

/// Messages that have another payload than their push gave them, so that the files of their pushes can go.
Result<std::optional<Compactor::InOldest>> Compactor::carry_replaced() {
  std::vector<InOldest> found;
  found.reserve(kFoundPerStep);
  for (int step = 0; step < kReplacedStepsMax; ++step) {
    bool more = false;
    FQ_TRY(locked([&]() -> Result<void> {
      more = begin_walk(link_, header().replaced);
      if (!more) return {};
      // The first look is for one: where the walk stands before one that it cannot pass, nothing else is
      // looked at.
      const uint32_t next = find_replaced(found, step == 0 ? 1 : kFoundPerStep);
      // Only what is done is passed: a death, or another replacement meanwhile, leaves it to the next look.
      const bool at_end = found.empty() && next >= schedule().root().entry_supply.high_water;
      Txn txn = store().begin();
      note_walked(txn, header().replaced, next, at_end);
      txn.commit();
      return {};
    }));
    if (!more) break;
    for (const InOldest& each : found) {
      FQ_TRY_SET(Copied copied, copy_message(each.id, each.item_position));
      if (copied == Copied::unreadable) {
        FQ_TRY_SET(copied, give_up(each.id, each.item_position));
      }
      if (copied == Copied::unreadable) return std::optional(each);
    }
  }
  return std::optional<InOldest>();
}

Result<Compactor::Copied> Compactor::copy_message(MessageId id, uint64_t item_position) {
  Carried carried;
  bool there = false;
  FQ_TRY(locked([&]() -> Result<void> {
    const std::optional<SlotIndex> slot = schedule().messages().find(id);
    there = slot && schedule().messages().entry(*slot).item_position == item_position;
    if (there) carried.look(link_, *slot);
    return {};
  }));
  if (!there) return Copied::gone;
  FQ_TRY_SET(const bool found, carried.read(link_));
  return found ? put_forward(carried) : Copied::unreadable;
}

Result<Compactor::Copied> Compactor::put_forward(const Carried& carried) {
  encode_moved(body_, carried.record());
  if (!decode_moved(body_.bytes)) return Copied::gone;
  const uint64_t bytes = padded(kRecordHeaderBytes + body_.bytes.size());
  Obstacle obstacle = Obstacle::none;
  bool moved = false;
  FQ_TRY(locked([&]() -> Result<void> {
    obstacle = writer_.room_for(Purpose::care, bytes);
    if (obstacle == Obstacle::none) moved = append_moved(carried);
    return {};
  }));
  // It may have changed by then: the caller looks at it again.
  if (obstacle != Obstacle::none) FQ_TRY(writer_.overcome(obstacle));
  return moved ? Copied::moved : Copied::again;
}

/// Appends the encoded record, if the message still is where and what it was when it was looked at.
bool Compactor::append_moved(const Carried& carried) {
  const std::optional<SlotIndex> slot = schedule().messages().find(carried.record().id);
  if (!slot || !carried.holds(link_, *slot)) return false;
  const Entry& entry = schedule().messages().entry(*slot);
  Change change(link_);
  Txn& txn = change.txn();
  const std::optional<uint32_t> file = stream().table().find(entry.item_position);
  if (file && carried.record().message.is_lost()) txn.set(stream().table().slot(*file).lost, 1);
  const uint64_t position = change.append(Purpose::care, body_);
  const uint64_t item_position =
      position + kRecordHeaderBytes + moved_item_offset(body_.bytes, carried.record());
  gate().apply().moved(txn, carried.record(), position, item_position, HolderIndex{entry.holder.get()},
                       change.now().wall_ms);
  FQ_POINT("compaction.moved");
  change.commit();
  return true;
}

}  // namespace fq
