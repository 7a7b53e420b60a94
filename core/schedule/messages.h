// messages - the life of a message: how it comes in, how it starts, and how it ends.
//
// Owns the entries: their fields, their place in the id index, and with States (state.h) the counts by state.
// A message is in one state and in the one structure of that state; a change leaves the old and enters the
// new in the same transaction. Turns says whose turn it is, Timers what time does, Dependents what a held
// message waits for.
#pragma once

// System.
#include <optional>
#include <string_view>
// fq, this room.
#include "core/schedule/states/delivered.h"
#include "core/schedule/memory/overhead.h"
#include "core/schedule/memory/region.h"
#include "core/schedule/order/unique_keys.h"
#include "core/schedule/plain/plain_ack.h"

namespace fq {

struct NewEntry {
  MessageId id{};
  std::string_view tenant;  // a valid path
  std::string_view key;     // order-preserving bytes, empty for none
  int32_t priority = 0;
  uint64_t item_position = 0;
  uint32_t payload_bytes = 0;
  uint64_t overhead_bytes = 0;  // in the journal beside its payload
  uint16_t attempts_max = 0;    // 0: the queue's, when leased
  bool blob = false;
  uint8_t job_flags = 0;     // of kEntryJob
  bool extra = false;        // it has one: needs room for it
  bool expired = false;      // restored only: dead for that reason
  bool suspended = false;    // restored only too: see kExtraSuspended
  bool wait_failed = false;  // and kExtraWaitFailed
  int64_t ttl_ms = kNever;
  std::optional<NewKey> key_hold;  // of --unique or --debounce
  Bytes after;                     // u64 each: an id with kAfter... of core/journal/record.h
  int64_t due_ms = 0;              // boot time; at or before now_ms: ready at once
  bool from_release = false;       // due_ms is how long after its release, while it is held
  // On its way between queues: of kExtraTransits. due_ms is then since when it is ready or dead, or when due.
  uint32_t transit = 0;
  int64_t now_ms = 0;
};

/// A message as it was when it was copied forward; restore() puts it back so.
struct RestoredEntry {
  NewEntry entry;
  SlotState state{};
  int64_t at_ms = 0;
  uint64_t event_position = 0;
  uint64_t serial = 0;
  HolderIndex holder = kHeldByTime;
  uint32_t deliveries = 0;
  uint16_t attempts = 0, attempts_max = 0, crashes = 0;
};

/// Back from the dead, or before its time.
struct Kick {
  int64_t now_ms = 0;
  bool hold = false;     // a dead one that was held before is held again, until what it came after has ended
  std::optional<bool> has_key = {};  // it has its key again, or another has that; none: as things are
};

class Messages {
 public:
  explicit Messages(const Region& region) : region_(region) {}

  std::optional<SlotIndex> find(MessageId id) const;
  /// The same, of one that was in slot `hint` a while ago: mostly it still is.
  std::optional<SlotIndex> find(MessageId id, uint32_t hint) const {
    if (hint < region_.root.entries.capacity) {
      const Entry& there = region_.entry(hint);
      const bool is_free = there.state == static_cast<uint8_t>(SlotState::free);
      if (there.id == number(id) && !is_free) return SlotIndex{hint};
    }
    return find(id);
  }
  /// It will be looked for by its id soon.
  void expect(MessageId id) const;
  [[gnu::always_inline]] const Entry& entry(SlotIndex slot) const {
    return region_.entry(static_cast<uint32_t>(slot));
  }

  /// At most 24 steps (8 new tenants, a lane or the heap). Needs: room for Growth::need_of(tenant, key);
  /// where there is none, RegionDamaged is thrown.
  SlotIndex add(Txn& txn, const NewEntry& entry) const;
  SlotIndex restore(Txn& txn, const RestoredEntry& entry) const;

  /// Leases this message, whatever its turn and state (replay); charges no node. At most 12 steps.
  void lease(Txn& txn, SlotIndex slot, const LeaseTerms& terms) const;
  /// For Turns, which gives its tenant its seat: a ready one is leased.
  void start(Txn& txn, const Message& message, const LeaseTerms& terms) const;
  /// A leased message has run so long (none: since its delivery): with fair_by time its nodes pay for it. Its
  /// end does so too, which then adds nothing. At most two steps a level.
  void end_run(Txn& txn, SlotIndex slot, std::optional<uint64_t> run_us, int64_t now_ms) const;
  void extend(Txn& txn, SlotIndex slot, int64_t until_ms) const;
  void set_holder(Txn& txn, SlotIndex slot, HolderIndex holder) const;

  /// Puts a message back in its old place: ready, or delayed when due_ms is after now_ms. `counted`: an
  /// attempt; `crashed`: its holder died or its time was over, which of a command message is no attempt.
  /// Where that was the last attempt, or of a command message one crash too many, it is dead instead; returns
  /// true then. At most 12 steps.
  bool requeue(Txn& txn, SlotIndex slot, bool counted, bool crashed, int64_t due_ms, int64_t now_ms) const;
  /// The end of this lease, whatever it is, is no attempt: then it is delayed until `due_ms`, or held until
  /// all of `after` (u64 each, as in NewEntry) have ended. `failed`: some have, and not by an ack. At most 4
  /// steps and two for each of its waits. Needs: room for an Extra and the waits.
  struct Suspension {
    int64_t due_ms = 0;
    Bytes after;
    bool failed = false;
  };
  void suspend(Txn& txn, SlotIndex slot, const Suspension& suspension) const;
  bool is_suspended(const Entry& entry) const;
  /// Whether of what a step of it has waited for last not all were acked.
  bool has_failed_wait(const Entry& entry) const;
  void bury(Txn& txn, SlotIndex slot, int64_t now_ms) const;
  /// For Timers: a ready one was not started in time, and is dead since then.
  void expire(Txn& txn, SlotIndex slot) const;
  /// Dead or delayed to ready; attempts start anew, a TTL no longer holds.
  void kick(Txn& txn, SlotIndex slot, const Kick& kick) const;
  /// Ends a message (`verdict` acked or cancelled) and frees its slot; leaves an outcome.
  void finish(Txn& txn, SlotIndex slot, RecordType verdict, const MessageEnd& end) const {
    if (verdict == RecordType::acked && PlainAck(region_).finish(txn, slot, end)) return;
    finish_by_parts(txn, slot, verdict, end);
  }
  /// The same where PlainAck does nothing.
  void finish_by_parts(Txn& txn, SlotIndex slot, RecordType verdict, const MessageEnd& end) const;

  /// Another payload in its place, and of a delayed one another due time (kNever: the one that it has). At
  /// most 3 steps.
  struct Replacement {
    uint64_t item_position = 0;
    uint32_t payload_bytes = 0;
    bool blob = false;
    uint8_t job_flags = 0;  // of kEntryJob
    uint64_t overhead_bytes = 0;
    int64_t due_ms = kNever;
  };
  void replace(Txn& txn, SlotIndex slot, const Replacement& replacement) const;
  /// It takes so much in the journal beside its payload from now on. One step.
  void set_overhead(Txn& txn, SlotIndex slot, uint64_t bytes) const;
  [[gnu::always_inline]] void set_event(Txn& txn, SlotIndex slot, uint64_t event_position) const {
    Entry& entry = region_.entry(static_cast<uint32_t>(slot));
    region_.open(txn, entry).set(&Entry::event_position, event_position);
  }
  /// Its record is another one, which says the same of it.
  void set_place(Txn& txn, SlotIndex slot, uint64_t item_position) const {
    txn.set(region_.entry(static_cast<uint32_t>(slot)).item_position, item_position);
  }
  /// All that is known of it is told by one record now, which takes so much beside the payload.
  void set_item(Txn& txn, SlotIndex slot, uint64_t item_position, uint64_t overhead) const;
  /// It was changed, and no record tells: until its end a rebuild may make something else of it.
  void note_unwritten(Txn& txn, SlotIndex slot) const;
  /// Nothing of a dead message can be delivered: its key, its waits and its time to start are forgotten. At
  /// most kWaitsMax steps.
  void lose(Txn& txn, SlotIndex slot) const;

 private:
  const Region& region_;
};

}  // namespace fq
