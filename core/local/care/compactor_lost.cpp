// compactor_lost - messages whose record cannot be read any more: none of them keeps the journal as it is.
//
// One of them could pin its file, and with it every later one, for as long as it is dead: a year, say. So
// compaction gives it up. What the segment knows of it is written anew as a MOVED record, with a payload that
// is nowhere (BlobName::is_nothing): it goes on being told as lost, after a rebuild too, and check finds it
// until somebody cancels it. The file then goes as any other, but is not used again: with all its bytes it is
// put into damaged/. Only dead messages, which hold no key and wait for nothing, are written so. Any other is
// buried first, as it would be when somebody was to be served with it.
#include "core/local/care/compactor.h"

// System.
#include <array>
// fq, this room.
#include "core/local/files/blobs.h"
#include "core/local/read/snapshot.h"

namespace fq {

/// Unless it has ended, died or been leased meanwhile.
Result<void> Compactor::bury_lost(MessageId id, uint64_t item_position, const std::string& what) {
  EventDetail detail;
  detail.reason = what;
  const uint64_t bytes = event_record_bytes(RecordType::buried, 1, detail);
  bool buried = false;
  Obstacle obstacle = Obstacle::none;
  FQ_TRY(locked([&]() -> Result<void> {
    const std::optional<SlotIndex> slot = schedule().messages().find(id);
    if (!slot || schedule().messages().entry(*slot).item_position != item_position) return {};
    const auto state = static_cast<SlotState>(schedule().messages().entry(*slot).state.get());
    if (state == SlotState::dead || state == SlotState::leased) return {};
    obstacle = writer_.room_for_event(RecordType::buried, bytes);
    if (obstacle != Obstacle::none) return {};
    events_.append(RecordType::buried, *slot, detail);
    buried = true;
    return {};
  }));
  if (obstacle != Obstacle::none) FQ_TRY(writer_.overcome_for_event(obstacle));
  if (buried) notice(message_object(number(id)) + ": " + what + "; buried, see fq check");
  return {};
}

Result<Compactor::Copied> Compactor::give_up(MessageId id, uint64_t item_position) {
  MessageItem item;
  Carried carried;
  bool there = false;
  std::array<char, kTextBytesMax> tenant;
  std::string key;
  FQ_TRY(locked([&]() -> Result<void> {
    const std::optional<SlotIndex> slot = schedule().messages().find(id);
    there = slot && schedule().messages().entry(*slot).item_position == item_position;
    if (!there) return {};
    const Entry& entry = schedule().messages().entry(*slot);
    carried.look(link_, *slot);
    key = schedule().views().key_of(*slot);
    item.tenant = schedule().tenants().path_copy(TenantIndex{entry.tenant.get()}, tenant);
    item.priority = schedule().views().priority_of(*slot);
    item.payload_bytes = entry.payload_bytes;
    if ((entry.flags & kEntryOwnAttempts) != 0) item.attempts_max = entry.attempts_max;
    return {};
  }));
  if (!there) return Copied::gone;
  const Snapshot& snapshot = carried.snapshot();
  // What was moved or written over in the ring just then can be read where it is now.
  FoundMessage message{snapshot.id, snapshot.place};
  FQ_TRY_SET(const bool readable, messages_.read(message));
  if (readable) return Copied::again;
  if (snapshot.slot_state == SlotState::leased) return Copied::unreadable;
  if (snapshot.slot_state != SlotState::dead) {
    FQ_TRY(bury_lost(id, item_position, messages_.lost_text(message)));
    return Copied::again;
  }
  item.key = key;
  item.blob = BlobName{};
  FQ_TRY(carried.read_as(link_, item));
  return put_forward(carried);
}

}  // namespace fq
