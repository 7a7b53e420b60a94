// gate - the way into a segment: the state lock, what its holder must find whole, and what it may throw.
//
// Everything that reads or changes the shared structures runs inside Gate::locked. It takes the lock (naming
// a stopped holder after the time limit), undoes what a dead holder left, and turns RegionDamaged into a
// poisoned segment, which the engine answers by a rebuild.
#pragma once

// System.
#include <string>
// fq, below us.
#include "core/base/clock.h"
#include "core/base/result.h"
// fq, this room.
#include "core/spool/apply.h"
#include "core/spool/stream.h"

namespace fq {

/// What went wrong with the segment itself rather than with an operation.
enum class SegmentTrouble {
  none,
  replaced,  // attach anew, then try again
  damaged,   // rebuild, then try again
};

/// Time as one operation sees it, never before an earlier operation's.
struct Now {
  int64_t boot_ms = 0;
  int64_t wall_ms = 0;
};

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

  /// Applies pushed records that may be served now. Needs: the lock, no open Txn. Sets `wakes` when
  /// something became ready. Needs scratch() to be large enough for a record that wraps around the ring.
  void apply_pending();
  /// Fires due timers in at most `transactions` transactions; returns whether something fired.
  bool fire_timers(const Now& now, uint32_t transactions);

  /// Reads the clock.
  Now now() const;
  /// `read` as the holder of the lock may use it: never before what an earlier holder used, and read anew
  /// where the lock had to be waited for.
  Now in_order(Txn& txn, const Now& read);

  SegmentTrouble trouble() const { return trouble_; }
  Store& store() { return store_; }
  SegmentHeader& header() { return store_.header(); }
  Stream& stream() { return stream_; }
  Apply& apply() { return apply_; }
  const std::string& object() const { return object_; }
  void set_object(std::string object) { object_ = std::move(object); }

  /// For benches: how long the lock is held, what a death inside it costs.
  static inline void (*before_unlock)() = nullptr;
  static inline void (*after_lock)() = nullptr;

  /// Something became servable: who sleeps is woken after the unlock.
  void mark_servable() { wake_ = true; }
  /// A message may have ended: likewise.
  void mark_ended() { ended_ = true; }
  /// The leases of this holder were changed by us: it is woken likewise (one of them; the others look at
  /// the latest when their sleep is capped).
  void mark_changed(uint16_t holder) { changed_holder_ = holder; }

 private:
  void wake_sleepers();
  Result<void> enter();
  void leave();
  bool repair();
  Error poison(const char* what);
  bool apply_some();
  void release_pending(Txn& txn, const MessageItem& item);

  Store& store_;
  Stream stream_;
  Apply apply_;
  Clock& clock_;
  std::string object_;
  SegmentTrouble trouble_ = SegmentTrouble::none;
  bool wake_ = false;
  bool ended_ = false;
  std::optional<uint16_t> changed_holder_;
  bool waited_ = false;       // for the lock, this time
  bool dead_holder_ = false;  // the lock is ours but not yet consistent
  std::vector<std::byte> scratch_;
};

}  // namespace fq
