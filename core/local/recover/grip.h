// grip - what one process has of one queue: its directory, `lock`, and the segment that is mapped.
//
// Owns the segments that were left, too: their locks may still be on a thread's robust list, and objects that
// refer to one go on finding it.
#pragma once

// System.
#include <cerrno>
// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "core/local/files/lock_file.h"
#include "core/local/files/process_info.h"
#include "core/local/files/queue_directory.h"
#include "core/local/shared/store.h"

namespace fq {

/// Less than this between two reads of the clocks is drift and rounding.
inline constexpr int64_t kClockStepMs = 100;

/// There is nothing of that name.
template <class T>
bool is_missing(const Result<T>& result) {
  return !result.ok() && (result.error().kind == ErrorKind::missing || result.error().sys == ENOENT);
}

/// A segment, as it was found in the queue's directory.
enum class Found {
  usable,
  absent,    // none, half-made, or of another boot or place: no process can be at work in it
  poisoned,  // ours, but damaged inside
  retired,   // ours, flushed and left by a rebuilder that died before its own was in place
  foreign,   // another pid or time namespace's
  other_build,
  garbage,
};

class Grip {
 public:
  Grip(Location location, bool may_create, Clock& clock)
      : location_(std::move(location)), clock_(clock), may_create_(may_create) {}

  const Location& location() const { return location_; }
  Clock& clock() const { return clock_; }
  const KernelIdentity& kernel() const { return kernel_; }
  bool may_create() const { return may_create_; }  // a queue that is not there
  Disk& disk() const { return *disk_; }
  LockFile& lock_file() const { return *lock_file_; }
  /// None: nothing is mapped.
  Store* store() const { return store_.get(); }
  const std::string& object() const { return disk_->label(); }
  /// What happened to it, for a person, who is told it once.
  void notice(std::string text) { notices_.push_back(std::move(text)); }
  std::vector<std::string> take_notices() { return std::exchange(notices_, {}); }

  Result<void> read_kernel() { return read_kernel_identity(kernel_); }
  /// The queue's present directory; made, if it may be.
  Result<void> open_directory();
  /// `lock` of that directory.
  void take_lock_file(LockFile file) { lock_file_ = std::make_unique<LockFile>(std::move(file)); }
  /// False: the queue was removed, and perhaps made anew, since its lock was opened.
  bool names_own_lock() const {
    return names_lock(location_.spool, location_.queue, lock_file_->device(), lock_file_->inode());
  }
  bool is_taken_away() const {
    return fq::is_taken_away(location_.spool, location_.queue, lock_file_->device(), lock_file_->inode());
  }
  /// Maps the segment that is there. Of one that is not usable only a poisoned one is kept: what its ring
  /// holds is rescued.
  Result<Found> map_segment_there(const LockIdentity& identity, bool has_identity);
  void unmap() { store_.reset(); }
  /// Another segment takes the place of the one that is mapped, which stays in memory.
  void replace(std::unique_ptr<Store> store);

  /// Lets go of segment and lock, which objects may still refer to; come_back() takes them again where
  /// nothing else could be had.
  void leave();
  void come_back();

 private:
  Result<Found> judge(const LockIdentity& identity, bool has_identity) const;
  static Result<bool> shows_same_pids(const SegmentIdentity& own);
  Result<bool> shows_same_times(const SegmentHeader& header) const;

  Location location_;
  Clock& clock_;
  KernelIdentity kernel_;
  std::unique_ptr<Disk> disk_;
  std::unique_ptr<LockFile> lock_file_;
  std::unique_ptr<Store> store_;
  std::vector<std::unique_ptr<Store>> left_;  // never unmapped while the process lives, see RobustMutex
  std::vector<std::unique_ptr<LockFile>> left_locks_;
  std::vector<std::string> notices_;
  bool may_create_;
};

/// The base of objects that work by a grip: its shorthands.
class Gripping {
 protected:
  explicit Gripping(Grip& grip) : grip_(grip) {}

  Disk& disk() const { return grip_.disk(); }
  LockFile& lock_file() const { return grip_.lock_file(); }
  Clock& clock() const { return grip_.clock(); }
  const KernelIdentity& kernel() const { return grip_.kernel(); }
  const Location& location() const { return grip_.location(); }
  const std::string& object() const { return grip_.object(); }
  void notice(std::string text) { grip_.notice(std::move(text)); }

  Grip& grip_;
};

}  // namespace fq
