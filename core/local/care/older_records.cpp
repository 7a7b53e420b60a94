#include "core/local/care/older_records.h"

// fq, this room.
#include "core/local/files/process_info.h"
#include "core/local/shared/segment_lock.h"

namespace fq {

namespace {

constexpr int kCopyTries = 100;  // against others who change the same message all the time

/// What a replacement, or an edit, would have made another one.
bool is_same_message(const Schedule& live, SlotIndex slot, const Schedule& rebuilt, SlotIndex other) {
  const Entry& a = live.messages().entry(slot);
  const Entry& b = rebuilt.messages().entry(other);
  constexpr uint8_t kOfItem = kEntryBlob | kEntryJob;
  return !live.views().is_replaced(slot) && a.payload_bytes == b.payload_bytes &&
         (a.flags & kOfItem) == (b.flags & kOfItem) &&
         live.views().priority_of(slot) == rebuilt.views().priority_of(other) &&
         live.views().key_of(slot) == rebuilt.views().key_of(other);
}

}  // namespace

std::vector<OlderRecord> find_older_records(const Schedule& live, const Schedule& rebuilt) {
  std::vector<OlderRecord> found;
  for (auto slot = live.views().next_slot(SlotIndex{0}); slot;
       slot = live.views().next_slot(SlotIndex{static_cast<uint32_t>(*slot) + 1})) {
    const Entry& entry = live.messages().entry(*slot);
    const std::optional<SlotIndex> other = rebuilt.messages().find(MessageId{entry.id.get()});
    if (!other) continue;
    const Entry& older = rebuilt.messages().entry(*other);
    if (older.item_position >= entry.item_position || !is_same_message(live, *slot, rebuilt, *other))
      continue;
    found.push_back({MessageId{entry.id.get()}, entry.item_position, entry.event_position,
                     older.item_position, older.event_position});
  }
  return found;
}

/// False: its record can be read, or it is another one meanwhile, or the older file was given back. Needs:
/// the compaction lock, so that no file of which nothing is needed yet goes.
Result<bool> OlderRecords::go_back(const OlderRecord& to) {
  bool there = false;
  std::optional<ItemPlace> place;
  const auto find = [&] {
    const std::optional<SlotIndex> slot = schedule().messages().find(to.id);
    const bool still = slot && schedule().messages().entry(*slot).item_position == to.item_position;
    return still ? slot : std::nullopt;
  };
  FQ_TRY(locked([&]() -> Result<void> {
    const std::optional<SlotIndex> slot = find();
    there = slot.has_value();
    if (slot) place = ItemReader::find_item(stream(), header(), schedule().messages().entry(*slot));
    return {};
  }));
  if (!there) return false;
  if (place) {
    FQ_TRY_SET(const bool readable, reader().read(*place, stored_));
    if (readable) return false;
  }
  bool went = false;
  FQ_TRY(locked([&]() -> Result<void> {
    const std::optional<SlotIndex> slot = find();
    JournalTable& table = stream().table();
    if (!slot || !table.find(to.older_item)) return {};
    Txn txn = store().begin();
    table.remove_live(txn, to.item_position);
    schedule().messages().set_place(txn, *slot, to.older_item);
    table.add_live(txn, to.older_item);
    // What has happened since the look leads back to what is lost.
    if (schedule().messages().entry(*slot).event_position == to.event_position)
      schedule().messages().set_event(txn, *slot, to.older_event);
    txn.commit();
    went = true;
    return {};
  }));
  return went;
}

Result<uint64_t> OlderRecords::take(const std::vector<OlderRecord>& found) {
  if (found.empty()) return 0u;
  std::vector<OlderRecord> taken;
  {
    SegmentHeader& shared = header();
    const std::optional<SegmentLock> held = SegmentLock::take(shared, shared.compaction);
    if (!held) return held_by(object() + ": journal files are held", shared.compaction.holder());
    reader().forget();
    for (const OlderRecord& each : found) {
      FQ_TRY_SET(const bool went, go_back(each));
      if (went) taken.push_back(each);
    }
  }
  // At once: where it was replaced before it was copied, an older file than this one tells of it, too.
  for (const OlderRecord& each : taken) {
    Compactor::Copied copied = Compactor::Copied::again;
    for (int attempt = 0; attempt < kCopyTries && copied == Compactor::Copied::again; ++attempt) {
      FQ_TRY_SET(copied, compactor_.copy_message(each.id, each.older_item));
    }
  }
  return taken.size();
}

}  // namespace fq
