// gate - the way into a segment: the state lock, what its holder must find whole, and what it may throw.
//
// Everything that reads or changes the shared structures runs inside Gate::locked. It takes the lock (naming
// a stopped holder after the time limit), undoes what a dead holder left, and turns RegionDamaged into a
// poisoned segment, which the engine answers by a rebuild.
#pragma once

// System.
#include <functional>
#include <string>
// fq, below us.
#include "core/base/clock.h"
#include "core/base/result.h"
// fq, this room.
#include "core/local/shared/apply.h"
#include "core/local/shared/needs.h"
#include "core/local/shared/stream.h"

namespace fq {

/// A fault of the segment itself rather than of an operation.
enum class SegmentTrouble {
  none,
  replaced,  // attach anew, then try again
  damaged,   // rebuild, then try again
};

/// Time as one operation sees it.
struct Now {
  int64_t boot_ms = 0;
  int64_t wall_ms = 0;
};

/// The messages of one pushed record, still in the memory of the process that pushed them.
struct PushedMessages {
  std::span<const MessageItem> items;
  Need need;  // of all of them
  MessageId first_id{};
  uint64_t position = 0;  // of the record
  int64_t at_wall_ms = 0;
  size_t next = 0;  // the first that is not linked yet, and where it lies in the record
  uint32_t next_offset = kRecordHeaderBytes + kFirstItemOffset;
};

inline constexpr uint32_t kTimerTransactions = 32;  // of due timers under one hold of the lock

class Gate {
 public:
  Gate(Store& store, Clock& clock, std::string object)
      : store_(store), stream_(store), apply_(store), clock_(clock), object_(std::move(object)) {}

  /// Runs `body` (Result<void>()) with the state lock held. After an Error, trouble() tells whether the
  /// segment has to be attached anew or rebuilt before trying again.
  template <class Body>
  Result<void> locked(Body&& body) {
    FQ_TRY(enter());
    try {
      Result<void> done = body();
      leave();
      wake_sleepers();
      return done;
    } catch (const RegionDamaged& damage) {
      return poison(damage.what);
    } catch (...) {
      // No memory, say: the open transaction was taken back while unwinding, the segment is whole.
      leave();
      throw;
    }
  }

  /// Applies pushed records that may be served now. Needs: the lock, no open Txn. Sets `wakes` when something
  /// became ready. The messages that `own` tells are not read back from the ring.
  void apply_pending(PushedMessages* own = nullptr);
  /// Applies the messages of the record at the pending end that are not applied yet, as many as fit in this
  /// transaction. Needs: the lock; the record is appended and may be served; `added` is what note_pending
  /// was not told of it yet.
  void apply_pushed(Txn& txn, PushedMessages& pushed, const Need& added);
  /// Says that these keys are asked for, until their messages are applied.
  void note_keys(Txn& txn, std::span<const MessageItem> items);
  /// Keeps room for messages that are appended and not linked yet, gives up that of those that were linked.
  void note_pending(Txn& txn, const Need& added, const Need& linked);
  /// Messages that are accepted and not linked yet. Needs: the lock.
  void visit_pending(const std::function<void(const MessageItem&)>& visit);
  /// Fires due timers in at most `transactions` transactions; returns whether something fired.
  bool fire_timers(const Now& now, uint32_t transactions = kTimerTransactions);

  /// Reads the clock; while the lock is held the first reading stands. What one hold decides, writes and does
  /// is of one moment, since its record tells one to a rebuild; never before what an earlier holder used.
  Now now();
  /// The same, but what was read before the lock was asked for may stand, unless it had to be waited for.
  Now now_as_read(const Now& read);
  /// The time of what this transaction appends: later holders use none that is before.
  Now note_now(Txn& txn);

  SegmentTrouble trouble() const { return trouble_; }
  /// The lock did not come the last time: it is not waited for once more by a process that leaves.
  bool has_given_up() const { return wait_ == Wait::in_vain; }
  Store& store() { return store_; }
  SegmentHeader& header() { return store_.header(); }
  Stream& stream() { return stream_; }
  Apply& apply() { return apply_; }
  const std::string& object() const { return object_; }

  /// For benches: how long the lock is held, what a death inside it costs.
  static inline void (*before_unlock)() = nullptr;
  static inline void (*after_lock)() = nullptr;

  /// Something became servable, or may at another time than before: sleepers are woken after the unlock.
  void mark_servable() { wake_ = kEverybody; }
  /// So many messages became servable at once: as many sleepers are woken.
  void mark_servable(uint32_t messages) { wake_ += std::min(messages, kEverybody - wake_); }
  /// A message may have ended: processes that wait for ends are woken after the unlock.
  void mark_ended() { ended_ = true; }
  /// The leases of this holder were changed by us: it is woken then too (one of them; the others look at the
  /// latest when their sleep is capped).
  void mark_changed(uint16_t holder) { changed_holder_ = holder; }

 private:
  void note_time(Txn& txn, int64_t boot_ms);
  Now at(int64_t boot_ms) const;
  void wake_sleepers();
  Result<void> enter();
  void leave();
  bool repair();
  Error poison(const char* what);
  Bytes pending_record(uint64_t position);
  bool apply_some();
  struct Linked;
  void link(Txn& txn, const MessageItem& item, size_t item_bytes, MessageId id, uint64_t item_position,
            int64_t at_wall_ms, Linked& linked);
  void finish_linking(Txn& txn, const Linked& linked, uint64_t position, const Need& added);

  Store& store_;
  Stream stream_;
  Apply apply_;
  Clock& clock_;
  std::string object_;
  SegmentTrouble trouble_ = SegmentTrouble::none;
  uint32_t wake_ = 0;  // how many sleepers
  bool ended_ = false;
  std::optional<uint16_t> changed_holder_;
  enum class Wait { none, had, in_vain };
  Wait wait_ = Wait::none;          // for the lock, this time
  bool is_inside_ = false;          // the lock is held
  std::optional<int64_t> boot_ms_;  // the time of this hold
  bool dead_holder_ = false;  // the lock is ours but not yet consistent
  std::vector<std::byte> scratch_;
};

}  // namespace fq
