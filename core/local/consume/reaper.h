// reaper - the messages of a consumer that has died: brought back, or kept by its jobs.
//
// A message is kept by whatever its job left behind (core/local/files/jobs/running_jobs.h): the process that
// buries the worker asks for each first. All that are not kept come back at once, however many of the same
// worker's are kept.
#pragma once

// fq, this room.
#include "core/local/files/jobs/running_jobs.h"
#include "core/local/read/snapshot.h"
#include "core/local/write/event_writer.h"

namespace fq {

/// Owns the knowledge of this process about the dead: when it looked, and what their jobs left behind.
class Reaper : private Linked {
 public:
  Reaper(Link& link, Writer& writer, EventWriter& events) : Linked(link), writer_(writer), events_(events) {}

  /// Brings back the messages of dead holders, unless it looked for those a moment ago.
  Result<void> reap_all(const Now& now) {
    const bool looked = reaped_at_ms_ != 0 && now.boot_ms - reaped_at_ms_ < kReapIntervalMs;
    return looked ? Result<void>() : reap_dead(now);
  }
  /// Before a look tells the holders of messages.
  void reap_before_look();
  /// The next reap_all() looks, however short ago the last one was.
  void look_anew() { reaped_at_ms_ = 0; }
  /// The process that holds it by living.
  std::optional<int> keeper_of(const Snapshot& snapshot);
  /// A dead holder's job still lives; since when that is known.
  bool has_orphans() const { return orphans_; }
  int64_t orphans_since_ms() const { return orphans_since_ms_; }

 private:
  // Busy consumers look at the life words at most so often; sleeping ones are woken by the kernel.
  static constexpr int64_t kReapIntervalMs = 10;

  struct Dead;
  Result<void> reap_dead(const Now& now);
  std::vector<HolderIndex> dead_holders();
  Result<void> reap(HolderIndex holder);
  Result<bool> find_dead(Dead& dead);
  bool is_dead(const Dead& dead);
  Result<void> find_held(Dead& dead);
  std::optional<SlotIndex> find_held(const Dead& dead, MessageId id);
  Result<void> note_kept(const Dead& dead);
  Result<void> return_from_dead(const Dead& dead, MessageId id);
  Result<void> free_dead(const Dead& dead);

  Writer& writer_;
  EventWriter& events_;
  int64_t reaped_at_ms_ = 0;
  bool orphans_ = false;
  std::optional<std::vector<OfdLock>> survivors_;  // of such jobs, since the last look
  int64_t orphans_since_ms_ = 0;
};

}  // namespace fq
