// link - this process's tie to a queue's segment: attached, locked, and attached anew where the segment was
// replaced or is damaged.
//
// Owns all that belongs to one segment (Session), the identity of this process in it (the holder slot), and
// the count of segments that it has seen: a memory of an earlier one, an index say, holds no more.
#pragma once

// System.
#include <optional>
// fq, this room.
#include "core/local/write/session.h"

namespace fq {

inline constexpr int kSegmentTries = 4;  // against a segment that is replaced again and again

class Link {
 public:
  Link(std::unique_ptr<Attachment> attachment, Clock& clock)
      : attachment_(std::move(attachment)),
        store_(&attachment_->store()),
        clock_(clock),
        session_(std::make_unique<Session>(*attachment_, clock)) {}

  /// Runs `body` under the state lock; attaches anew (or rebuilds) and repeats where the segment was replaced
  /// or damaged. `body` must be repeatable: a change that it did not commit is undone.
  template <class Work>
  Result<void> locked(Work&& body) {
    for (int attempt = 0;; ++attempt) {
      Result<void> done = gate().locked(body);
      if (done.ok() || gate().trouble() == SegmentTrouble::none || attempt == kSegmentTries) return done;
      FQ_TRY(attach_anew());
    }
  }
  Result<void> attach_anew();
  uint64_t segments_seen() const { return segments_seen_; }

  Store& store() { return *store_; }
  const Store& store() const { return *store_; }
  SegmentHeader& header() { return store().header(); }
  Schedule& schedule() { return store().schedule(); }
  Gate& gate() { return session_->gate; }
  Stream& stream() { return session_->gate.stream(); }
  Flusher& flusher() { return session_->flusher; }
  OpenFiles& files() { return session_->files; }
  ItemReader& reader() { return session_->reader; }
  const QueueMark& mark() const { return session_->mark; }
  Attachment& attachment() { return *attachment_; }
  Clock& clock() { return clock_; }

  /// Until all that is committed now is on disk.
  Result<void> wait_all_durable() {
    return flusher().wait_durable(header().committed_end.load(std::memory_order_acquire));
  }

  /// As which this process holds leases by living; none yet, or not any more in this segment.
  std::optional<HolderIndex> holder() const { return holder_; }
  HolderSlot& holder_slot() { return header().holders[static_cast<uint16_t>(*holder_)]; }
  void set_holder(HolderIndex holder) { holder_ = holder; }
  void forget_holder() { holder_.reset(); }
  /// When this process began, in clock ticks since boot: tells it from a later one with its pid. 0: it has
  /// never held a lease.
  uint64_t started() const { return started_; }
  void find_started();

  /// The last call: gives the segment a smaller file where it is too large. With `until_exit` the rest
  /// (mapping, lock, descriptors) is left to the kernel, which is faster with all of them at once.
  void leave(bool until_exit);
  /// Instead of that: all is kept as it is until the process ends.
  void stay();

 private:
  std::unique_ptr<Attachment> attachment_;
  Store* store_;  // its own, as long as it is attached to the same segment
  Clock& clock_;
  std::unique_ptr<Session> session_;
  uint64_t segments_seen_ = 1;
  std::optional<HolderIndex> holder_;
  uint64_t started_ = 0;
};

/// The base of objects that work through a link: its shorthands.
class Linked {
 protected:
  explicit Linked(Link& link) : link_(link) {}

  template <class Work>
  Result<void> locked(Work&& body) {
    return link_.locked(std::forward<Work>(body));
  }
  /// The same once timers were fired, for a body that says whether what it looks at is due itself: as long as
  /// much else is due before it, that is fired first, each time under a hold of its own.
  template <class Look>
  Result<void> locked_when_fired(Look&& look) {
    for (bool again = true; again;) {
      FQ_TRY(locked([&]() -> Result<void> {
        const Now now = gate().now();
        const bool fired = gate().fire_timers(now);
        again = look(now) && fired;
        return {};
      }));
    }
    return {};
  }
  Store& store() { return link_.store(); }
  SegmentHeader& header() { return link_.header(); }
  Schedule& schedule() { return link_.schedule(); }
  Gate& gate() { return link_.gate(); }
  Stream& stream() { return link_.stream(); }
  Flusher& flusher() { return link_.flusher(); }
  OpenFiles& files() { return link_.files(); }
  ItemReader& reader() { return link_.reader(); }
  Disk& disk() { return link_.attachment().disk(); }
  Clock& clock() { return link_.clock(); }
  const QueueMark& mark() { return link_.mark(); }
  bool syncs_lazily() { return header().settings.sync.peek() == SyncMode::lazy; }

  /// "queue 'mail'", as messages to a person begin.
  const std::string& object() { return link_.attachment().object(); }
  std::string message_object(uint64_t id) { return "message " + std::to_string(id) + " of " + object(); }
  void notice(std::string text) { link_.attachment().notice(std::move(text)); }
  Error refuse_in_transit(MessageId id) {
    return Error{ErrorKind::later, message_object(number(id)) + ": is on its way to another queue; try again",
                 0};
  }
  Error refuse_full() {
    return Error{ErrorKind::later,
                 object() + ": the disk is full; what is queued can still be served and acked", 0};
  }

  Link& link_;
};

}  // namespace fq
