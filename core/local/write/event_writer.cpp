#include "core/local/write/event_writer.h"

// fq, below us.
#include "core/base/fault_point.h"
// fq, this room.
#include "core/local/shared/loose_blobs.h"

namespace fq {

namespace {

constexpr size_t kItemsAhead =
    1024;  // more than one transaction ever takes: nothing is allocated under the lock
constexpr size_t kRecordBytesAhead = 4096;

}  // namespace

EventWriter::EventWriter(Link& link, Writer& writer, Upkeep& upkeep)
    : Linked(link), writer_(writer), upkeep_(upkeep) {
  items_.reserve(kItemsAhead);
  body_.bytes.reserve(kRecordBytesAhead);
}

size_t EventWriter::append(RecordType type, std::span<const SlotIndex> slots, const EventDetail& detail,
                           std::span<SettleStatus> statuses, std::span<const Settle* const> settles) {
  const bool written = writer_.is_written(type, event_record_bytes(type, slots.size(), detail));
  Change change(link_);
  Txn& txn = change.txn();
  const Now& now = change.now();
  items_.clear();
  const uint64_t position = header().tail;
  const bool ends = purpose_of(type) == Purpose::end;
  const int64_t ended_ms = store().boot_of(now.wall_ms);
  Apply& apply = gate().apply();
  uint64_t loose_bytes = 0;
  size_t count = 0;
  for (; count < slots.size() && txn.noted() + kUndoOfOne < kUndoEntries; ++count) {
    const Entry& entry = schedule().messages().entry(slots[count]);
    items_.push_back({MessageId{entry.id.get()}, entry.event_position});
    if (is_news_to_holder(type, entry)) tell_holder(txn, entry);
    if (count < settles.size() && settles[count]->run_us)
      schedule().messages().end_run(txn, slots[count], settles[count]->run_us, now.boot_ms);
    const uint64_t event_position = written ? position : items_[count].previous_event;
    if (ends) {
      if ((entry.flags & (kEntryBlob | kEntryExtra)) != 0) loose_bytes += loose_bytes_of(entry);
      apply.end(txn, type, slots[count], entry, {event_position, ended_ms, now.wall_ms});
    } else {
      if (type == RecordType::unstepped) loose_bytes += schedule().steps().blob_bytes(entry);
      const bool dead =
          apply.event(txn, type, slots[count], detail, Serial{0}, kHeldByTime, event_position, now.wall_ms);
      if (dead && type == RecordType::retried && count < statuses.size())
        statuses[count] = SettleStatus::buried;
    }
    if (!written) schedule().messages().note_unwritten(txn, slots[count]);
  }
  if (written) {
    encode_event(body_, type, items_, detail);
    change.append(purpose_of(type), body_);
  }
  if (loose_bytes != 0) LooseBlobs(header()).add(txn, loose_bytes);
  FQ_POINT("event.appended");
  change.commit();
  FQ_POINT("event.committed");
  upkeep_.look(header());
  wake_for(type);
  return count;
}

void EventWriter::wake_for(RecordType type) {
  // An end may free what is at a limit: then something is ready that nobody could have.
  const ScheduleRoot& root = schedule().root();
  const bool waits = root.control_supply.used != 0 && root.counts.ready != 0;
  const bool may_serve = waits || !ends_message(type);
  // A process that waits for the queue to be idle is woken by the last end; it counts among the selective.
  const bool awaited = header().selective_waiters.load(std::memory_order_seq_cst) != 0;
  if (may_serve || (awaited && schedule().views().may_be_idle())) gate().mark_servable();
  gate().mark_ended();
}

/// That nobody reads any more once it has ended.
uint64_t EventWriter::loose_bytes_of(const Entry& entry) {
  const uint64_t payload = (entry.flags & kEntryBlob) != 0 ? entry.payload_bytes.get() : 0;
  return payload + schedule().steps().blob_bytes(entry);
}

/// A verdict is its own word. A cancel is none, whoever does it: a schedule of which a worker makes the next
/// message, say, has it cancel what it runs itself.
bool EventWriter::is_news_to_holder(RecordType type, const Entry& entry) const {
  const auto holder = HolderIndex{entry.holder.get()};
  return static_cast<SlotState>(entry.state.get()) == SlotState::leased && holder != kHeldByTime &&
         (holder != link_.holder() || type == RecordType::cancelled);
}

/// It hears of what is done to its lease.
void EventWriter::tell_holder(Txn& txn, const Entry& entry) {
  Shared<uint32_t>& changes = header().holders[entry.holder].changes;
  txn.set(changes, changes + 1);
  gate().mark_changed(entry.holder);
}

void EventWriter::return_lease(SlotIndex slot) {
  const Entry& entry = schedule().messages().entry(slot);
  EventDetail detail;
  if (schedule().messages().is_suspended(entry)) {
    const int64_t due_ms = schedule().region().extra(entry.rank).due_ms;
    if (due_ms > gate().now().boot_ms) detail.due_wall_ms = store().wall_of(due_ms);
  }
  append(RecordType::released, slot, detail);
}

void EventWriter::add(Change& change, RecordType type, std::span<const SlotIndex> slots,
                      const EventDetail& detail) {
  if (slots.empty()) return;
  // On a full disk it is done and not written down: after a crash it is decided again.
  const bool written = writer_.is_written(type, event_record_bytes(type, slots.size(), detail));
  items_.clear();
  for (const SlotIndex slot : slots) {
    const Entry& entry = schedule().messages().entry(slot);
    items_.push_back({MessageId{entry.id.get()}, entry.event_position});
  }
  uint64_t position = 0;
  if (written) {
    encode_event(body_, type, items_, detail);
    position = change.append(purpose_of(type), body_);
  }
  for (size_t i = 0; i < slots.size(); ++i) {
    const uint64_t event_position = written ? position : items_[i].previous_event;
    gate().apply().event(change.txn(), type, slots[i], detail, Serial{0}, kHeldByTime, event_position,
                         change.now().wall_ms);
    if (!written) schedule().messages().note_unwritten(change.txn(), slots[i]);
  }
}

}  // namespace fq
