// watcher - changes by others to messages that we hold or wait for: leases ended or extended under us,
// messages that end, a queue that has nothing left to do.
#pragma once

// System.
#include <map>
#include <optional>
#include <vector>
// fq, this room.
#include "core/local/consume/reaper.h"
#include "core/local/read/message_reader.h"

namespace fq {

/// Owns the leases that were given with `watch`, and how far their changes are known.
class Watcher : private Linked {
 public:
  Watcher(Link& link, Reaper& reaper) : Linked(link), reaper_(reaper) {}

  void watch(std::span<const TakenMessage> taken);
  void forget(uint64_t id) { watched_.erase(id); }
  bool watches_any() const { return !watched_.empty(); }
  Result<void> find_changes(LeaseReply& reply);
  /// The holder's count of changes, as it was last seen: another value wakes a sleeper.
  uint32_t changes_seen() const { return changes_seen_; }
  void begin_at(uint32_t changes) { changes_seen_ = changes; }

  /// Whether nothing is left to do but paused messages.
  Result<bool> is_idle();
  Result<EndStatus> await_end(const EndRequest& request);
  /// Until something has ended, or `until_ms`; also when interrupted. `seen`: end_event before the look.
  void sleep_until_end(Interrupt* interrupt, uint32_t seen, int64_t until_ms);

 private:
  /// And the newest record about it when that was last looked at.
  struct WatchedLease {
    uint64_t id = 0;
    uint64_t serial = 0;
    uint64_t event_position = 0;
  };
  std::optional<LeaseChange::What> change_of(WatchedLease& lease);
  /// Of the ids that are waited for those that have not ended, as far as that is known.
  struct OpenEnds {
    std::vector<size_t> places;
    size_t first = 0;        // those before it have ended
    bool looked = false;     // at all of them, once
    uint64_t ends_then = 0;  // of the queue, when all were looked at last
  };
  bool has_ended(MessageId id);
  std::optional<State> end_of(MessageId id);
  bool may_forget(const OpenEnds& open);
  Result<bool> scan_ends(const EndRequest& request, OpenEnds& open, int64_t& timer_ms);

  Reaper& reaper_;
  std::map<uint64_t, WatchedLease> watched_;  // by message
  uint32_t changes_seen_ = 0;
  uint64_t watched_segment_ = 0;
  bool watched_carried_ = false;  // some were given in a segment before: their changes are not counted for us
};

}  // namespace fq
