// apply - the one transition function: the effect of a record on the schedule, live and in replay.
//
// It takes what a record says and nothing else: no clock, no disk, no decision. Live operations decide,
// append the record and call this in the same transaction; a rebuild only calls this.
#pragma once

// fq, below us.
#include "core/journal/codec.h"
// fq, this room.
#include "core/local/shared/journal_table.h"

namespace fq {

class Apply {
 public:
  explicit Apply(Store& store) : store_(store), table_(store.header()) {}

  /// One message of a pushed record that stands at `item_position`.
  SlotIndex message(Txn& txn, const MessageItem& item, MessageId id, uint64_t item_position,
                    int64_t at_wall_ms);
  /// The same for one of many, whose ids are taken already and which are counted in their file together.
  /// `item_bytes`: of the item, as pushed_item_bytes() tells.
  SlotIndex add(Txn& txn, const MessageItem& item, size_t item_bytes, MessageId id, uint64_t item_position,
                int64_t at_wall_ms);

  /// Applies the record at `position` to the message in `slot`. `holder`: leased only. `serial`: leased only,
  /// of this message. A retry or a death that was the last attempt leaves it dead: returns true then.
  bool event(Txn& txn, RecordType type, SlotIndex slot, const EventDetail& detail, Serial serial,
             HolderIndex holder, uint64_t position, int64_t at_wall_ms);

  /// The same of what ends it, at a time that is known already; `entry`: of the message. In line: each end of
  /// a message comes here.
  void end(Txn& txn, RecordType type, SlotIndex slot, const Entry& entry, const MessageEnd& end) {
    table_.remove_live(txn, entry.item_position);
    if (type == RecordType::acked && has_extra(entry)) note_kept_key(txn, slot);
    store_.schedule().messages().finish(txn, slot, type, end);
  }

  /// A live lease has taken its turn already (Turns::take); this is the rest of `leased`. In line, as end().
  void leased(Txn& txn, SlotIndex slot, uint64_t position) {
    store_.schedule().messages().set_event(txn, slot, position);
  }

  /// The message lies at `item_position` now, with all that the record says of it where it was unknown.
  void moved(Txn& txn, const MovedRecord& moved, uint64_t position, uint64_t item_position,
             HolderIndex holder, int64_t at_wall_ms);

  void policy(Txn& txn, const PolicyRecord& policy, uint64_t position, int64_t at_wall_ms);
  /// A waiting message has another payload. Needs: it is there, ready, delayed or held.
  void replaced(Txn& txn, const ReplacedRecord& replaced, SlotIndex slot, uint64_t position);
  /// A message has other values. Where it is not known it comes in with them.
  void edited(Txn& txn, const EditedRecord& edited, uint64_t position, uint64_t item_position,
              int64_t at_wall_ms);
  /// A key that is held although its message has ended.
  void kept(Txn& txn, const KeptKey& key, uint64_t position);
  /// The key that a message asks for; none for most.
  std::optional<KeyHash> key_of(const MessageItem& item) const;
  /// `bytes` of the record at `position`.
  void scheduled(Txn& txn, const ScheduledRecord& schedule, uint64_t position, uint64_t bytes);
  /// Of a schedule that is there.
  void skipped(Txn& txn, const SkippedRecord& skipped);
  void unscheduled(Txn& txn, std::string_view name);
  /// `body_bytes` of the record at `position`.
  void stepped(Txn& txn, const SteppedRecord& step, SlotIndex slot, uint64_t position, size_t body_bytes);
  /// The schedule that made this message, where one did, has accounted for its time. Known already: nothing.
  void made(Txn& txn, const MessageItem& item, MessageId id);
  void limits(Txn& txn, const LimitsRecord& limits);
  void low(Txn& txn, const LowRecord& low);

 private:
  int64_t timer_of(int64_t next_wall_ms) const {
    return next_wall_ms == kNever ? kNever : store_.boot_of(next_wall_ms);
  }
  KeyHash hash_of(std::string_view tenant, const MessageTerms& terms) const;
  /// Steps that lie before the record which tells of their message now are to be told again.
  void note_steps(Txn& txn, SlotIndex slot);
  void note_failure(Txn& txn, SlotIndex slot, RecordType type, const EventDetail& detail);
  void note_kept_key(Txn& txn, SlotIndex slot);
  NewEntry entry_of(const MessageItem& item, MessageId id, uint64_t item_position, int64_t at_wall_ms) const;

  Store& store_;
  JournalTable table_;
};

}  // namespace fq
