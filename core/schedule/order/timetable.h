// timetable - the schedules of a queue: when each is due, and up to where its times are accounted for.
//
// It knows no cron and no zones: the caller that makes the message of a time says when the next one is. A
// schedule whose time has come leaves the heap for the list of those that are due, and is put back with its
// next time; one that is paused, or whose times are over, is in neither.
//
// Invariants
//  N1  A used element is in the index under its name, once.
//  N2  One that is not paused and has a next time is in the heap, or in one of the two lists; no
//      other one is.
//  N3  Its done_wall_ms goes back by an occurrence only where the clock that it came from was wrong.
#pragma once

// System.
#include <array>
#include <optional>
#include <string_view>
// fq, this room.
#include "core/schedule/memory/linear_hash.h"
#include "core/schedule/memory/text_pool.h"

namespace fq {

struct RecurringIndexKind : IndexKind<&ScheduleRoot::recurring_buckets, &ScheduleRoot::recurring_bucket_count,
                                      &ScheduleRoot::recurring, 1> {
  static uint64_t hash_of(const Recurring& recurring) { return recurring.hash; }
};

/// All that a record says of a schedule.
struct RecurringState {
  std::string_view name;
  uint64_t record = 0;
  uint32_t record_bytes = 0;
  bool paused = false;
  bool of_file = false;
  int64_t done_wall_ms = 0;
  int64_t next_wall_ms = 0;
  int64_t last_wall_ms = 0;
  Occurrence last{};
  uint64_t last_id = 0;
  uint64_t known_id = 0;
};

class Timetable {
 public:
  explicit Timetable(const Region& region) : region_(region), index_(RecurringIndexKind{&region}) {}

  uint32_t count() const { return region_.root.recurring_supply.used; }
  /// Its index, or kNoIndex.
  uint32_t find(std::string_view name) const;
  const Recurring& at(uint32_t i) const { return region_.recurring(i); }
  std::string_view name_of(uint32_t i, std::span<char, kTextBytesMax> into) const {
    return text_copy(region_, at(i).name, into);
  }
  bool is_used(uint32_t i) const { return (at(i).flags & kRecurringUsed) != 0; }
  uint32_t end() const { return region_.root.recurring_supply.high_water; }
  /// The one that has been due for longest; kNoIndex: none is.
  uint32_t first_due() const { return region_.root.due.head; }
  uint32_t first_refused() const { return region_.root.refused.head; }

  /// Makes it, or makes it anew. `timer_ms`: its next time by the clock of the boot. Three steps. Needs:
  /// room.
  void set(Txn& txn, const RecurringState& state, int64_t timer_ms) const;
  /// One step.
  void remove(Txn& txn, uint32_t i) const;
  /// It lies at another place, and is what it was.
  void move(Txn& txn, uint32_t i, uint64_t record, uint32_t record_bytes) const;

  /// It made a message for this time; no time: besides its times. False: that is known already. Two steps.
  bool note_made(Txn& txn, uint32_t i, uint64_t id, int64_t at_wall_ms, int64_t next_wall_ms,
                 int64_t timer_ms) const;
  /// This time makes none. Two steps.
  void note_skipped(Txn& txn, uint32_t i, Occurrence why, int64_t at_wall_ms, int64_t next_wall_ms,
                    int64_t timer_ms) const;
  /// Not due yet, as it turned out: looked at again then. Two steps.
  void postpone(Txn& txn, uint32_t i, int64_t next_wall_ms, int64_t timer_ms) const;
  /// The wall clock is so far ahead of the boot's from now on, and says that time. A schedule that waits for
  /// its time goes on waiting for the same time of the wall, unless that came from a clock that was wrong:
  /// then it is looked at anew. Two steps.
  void follow_clock(Txn& txn, uint32_t i, int64_t wall_minus_boot_ms, int64_t now_wall_ms) const;
  /// There was no room for its message. One step.
  void refuse(Txn& txn, uint32_t i) const;
  /// There may be room again for the one that has waited longest. One step.
  void try_again(Txn& txn) const;
  /// Its timer is due. Two steps.
  void fire(Txn& txn, uint32_t i) const;

 private:
  void unlink(Txn& txn, uint32_t i) const;
  void push_back(Txn& txn, RecurringList& list, uint32_t i, uint32_t flag) const;
  void wait_until(Txn& txn, uint32_t i, int64_t timer_ms) const;
  void go_on(Txn& txn, uint32_t i, int64_t at_wall_ms, int64_t next_wall_ms, int64_t timer_ms) const;

  const Region& region_;
  LinearHash<RecurringIndexKind> index_;
};

}  // namespace fq
