// attachment - one process's hold on one queue: directory, `lock`, the mapped segment.
//
// Opening is quick when the segment is this boot's, this namespace's and this directory's: open, flock,
// stat, map. Otherwise it is rebuilt from the journal (core/local/recover/rebuild.cpp), under `rebuild` so
// that only one process does it.
#pragma once

// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "core/local/files/key_secret.h"
#include "core/local/files/lock_file.h"
#include "core/local/files/process_info.h"
#include "core/local/files/queue_directory.h"
#include "core/local/recover/replay.h"

namespace fq {

class Attachment {
 public:
  /// `holes`: what a rebuild does where the disk does not give back a part of the journal.
  static Result<std::unique_ptr<Attachment>> open(const Location& location, bool create, Clock& clock,
                                                  Holes holes = Holes::refused);

  /// Leaves the segment (which was replaced or is damaged) and attaches to the queue's present one.
  Result<void> attach();

  Store& store() { return *store_; }
  Disk& disk() { return *disk_; }
  const LockFile& lock_file() const { return *lock_file_; }
  const KernelIdentity& kernel() const { return kernel_; }
  const std::string& object() const { return disk_->label(); }
  const Location& location() const { return location_; }
  /// Puts a smaller segment in the place of one that is too large, where that can be done at once: no other
  /// process is attached, and the disk has room for it. True: the queue was let go for that, attach anew.
  bool make_smaller();
  /// The reports of a rebuild, for a person; emptied by the call.
  void notice(std::string text) { notices_.push_back(std::move(text)); }
  std::vector<std::string> take_notices() { return std::exchange(notices_, {}); }

 private:
  enum class Found {
    usable,
    absent,    // none, half-made, or of another boot or place: no process can be at work in it
    poisoned,  // ours, but damaged inside
    retired,   // ours, flushed and left by a rebuilder that died before its own was in place
    foreign,   // another pid or time namespace's
    other_build,
    garbage,
  };

  Attachment(Location location, bool create, Clock& clock, Holes holes)
      : location_(std::move(location)), clock_(clock), create_(create), holes_(holes) {}

  /// The queue's present directory; made, if it may be.
  Result<void> open_directory();
  Result<void> try_to_attach();
  Result<bool> attach_once();
  Result<Found> map_existing(const LockIdentity& identity, bool has_identity);
  Result<Found> judge(const LockIdentity& identity, bool has_identity) const;
  static Result<bool> shows_same_pids(const SegmentIdentity& own);
  Result<bool> shows_same_times(const SegmentHeader& header) const;

  // core/local/recover/rebuild.cpp
  Result<void> rebuild();
  /// Needs: the lock of who rebuilds, and a share in that of who uses it.
  Result<void> rebuild_locked();
  Result<bool> prove_alone(Found found);
  /// Needs: nobody else is attached, and nothing was in the queue.
  Error take_back(Error why);
  /// `had_faults`: the segment that this one replaces.
  Result<void> build(bool alone, bool had_faults);
  Result<void> begin_secret_anew(Store& store, const KeySecret& secret);
  Result<std::unique_ptr<Store>> make_store(uint64_t generation, const LockIdentity& identity);
  Result<void> choose_files(Store& store, const ScanResult& scan);
  Result<void> take_over_numbers(Store& store);
  Result<void> adopt_boot(Store& store, const Replayed& replayed);
  static void carry_holders(Store& store);
  Result<void> write_first_records(Store& store, const Replayed& replayed, bool had_faults);
  Result<void> set_aside(uint32_t number, std::string what);
  Result<void> make_file(const FileKey& key);
  Result<void> report_damage(const ScanResult& scan);
  Result<void> remove_unusable(const ScanResult& scan);

  // core/local/recover/rescue.cpp
  Result<void> retire_old();
  void salvage_once_more(Store& old);
  Result<void> rescue_ring(Store& old);
  /// After a replay that found the stream to end there.
  void tell_unsaved(uint64_t tail);

  // core/local/recover/smaller_segment.cpp
  Result<void> replace_by_smaller();
  Result<bool> is_at_rest();
  Result<std::unique_ptr<Store>> build_smaller(const LockIdentity& identity);
  bool is_same_queue(const Store& store, const Replayed& replayed) const;
  void carry_files(Store& store) const;

  Location location_;
  Clock& clock_;
  KernelIdentity kernel_;
  std::unique_ptr<Disk> disk_;
  std::unique_ptr<LockFile> lock_file_;
  std::unique_ptr<Store> store_;
  std::vector<std::unique_ptr<Store>> left_;  // never unmapped while the process lives, see RobustMutex
  std::vector<std::unique_ptr<LockFile>> left_locks_;
  std::vector<std::string> notices_;
  uint64_t unsaved_end_ = 0;  // of the old segment's stream, where not all of it could be written
  bool tried_smaller_ = false;
  bool create_;  // a queue that is not there may be made
  Holes holes_;
};

/// Less than this between two reads of the clocks is drift and rounding.
inline constexpr int64_t kClockStepMs = 100;

/// A segment kept mapped after it was left: its locks may still be on this thread's robust list.
inline constexpr size_t kLeftSegmentsMax = 64;

}  // namespace fq
