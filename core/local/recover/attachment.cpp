#include "core/local/recover/attachment.h"

// System.
#include <cerrno>
#include <cstdlib>
// fq, below us.
#include "core/base/fault_point.h"
#include "core/engine/no_such_queue.h"
// fq, this room.
#include "core/local/files/queue_directory.h"
#include "core/local/shared/segment_size.h"

namespace fq {

namespace {

constexpr int64_t kAttachTimeoutMs = 5'000;  // settings are behind the door that we are opening
constexpr int kAttachTries = 8;              // against removers and rebuilders that come in between

template <class T>
bool is_missing(const Result<T>& result) {
  return !result.ok() && (result.error().kind == ErrorKind::missing || result.error().sys == ENOENT);
}

}  // namespace

Result<std::unique_ptr<Attachment>> Attachment::open(const Location& location, bool create, Clock& clock,
                                                     Holes holes) {
  std::unique_ptr<Attachment> attachment(new Attachment(location, create, clock, holes));
  FQ_TRY(read_kernel_identity(attachment->kernel_));
  FQ_TRY(attachment->open_directory());
  FQ_TRY(attachment->attach());
  return attachment;
}

Result<void> Attachment::open_directory() {
  Result<std::unique_ptr<Disk>> disk = open_queue_directory(location_.spool, location_.queue);
  // What was made may be removed before it is opened: then it is made anew.
  for (int attempt = 0; create_ && is_missing(disk) && attempt < kAttachTries; ++attempt) {
    const Result<bool> made = make_queue_directory(location_.spool, location_.queue);
    if (!made.ok() && (!is_missing(made) || attempt + 1 == kAttachTries)) return made.error();
    disk = open_queue_directory(location_.spool, location_.queue);
  }
  if (!disk.ok()) return std::move(disk).error();
  disk_ = std::move(disk).value();
  return {};
}

Result<void> Attachment::attach() {
  const bool had_one = store_ != nullptr;
  if (had_one) {
    FQ_ASSERT(left_.size() < kLeftSegmentsMax);
    left_.push_back(std::move(store_));
    // Objects that still refer to it go on finding it; only its hold on the queue ends.
    lock_file_->unlock();
    left_locks_.push_back(std::move(lock_file_));
  }
  Result<void> attached = try_to_attach();
  if (!attached.ok() && had_one) {
    // There is always a segment to look at, if only a retired one; what was opened for a new one goes.
    store_ = std::move(left_.back());
    left_.pop_back();
    lock_file_ = std::move(left_locks_.back());
    left_locks_.pop_back();
  }
  return attached;
}

Result<void> Attachment::try_to_attach() {
  for (int attempt = 0; attempt < kAttachTries; ++attempt) {
    FQ_TRY_SET(const bool attached, attach_once());
    if (attached) return {};
  }
  return Error{ErrorKind::later, object() + ": it is removed or rebuilt again and again", 0};
}

Result<bool> Attachment::attach_once() {
  Result<LockFile> opened = LockFile::open(*disk_, "lock", false);
  if (is_missing(opened) && !create_) {
    // A look makes no queue out of an empty directory.
    if (is_unmade(*disk_)) return no_such_queue(location_.queue);
  }
  if (is_missing(opened)) opened = LockFile::open(*disk_, "lock", true);
  if (is_missing(opened)) {
    // The directory is removed with everything in it: not even a lock can be made there.
    FQ_TRY(open_directory());
    return false;
  }
  if (!opened.ok()) return std::move(opened).error();
  lock_file_ = std::make_unique<LockFile>(std::move(opened).value());
  FQ_TRY_SET(const bool shared, lock_file_->lock(LockFile::Mode::shared, kAttachTimeoutMs));
  if (!shared) {
    return Error{ErrorKind::later,
                 object() + ": process " + join_pids(lock_file_->holders()) +
                     " has exclusive use of it (to rebuild or remove it); continue or end it",
                 0};
  }
  FQ_POINT("attach.shared");
  if (!names_lock(location_.spool, location_.queue, lock_file_->device(), lock_file_->inode())) {
    // Removed, and perhaps made anew, since we opened it.
    FQ_TRY(open_directory());
    return false;
  }
  LockIdentity identity;
  FQ_TRY_SET(const bool has_identity, lock_file_->read(identity));
  FQ_TRY_SET(const Found found, map_existing(identity, has_identity));
  // Once: a process that finds others there, or a segment that cannot be smaller, goes on with what is there.
  if (found == Found::usable) {
    return tried_smaller_ || !segment_is_too_large(store_->header()) || !make_smaller();
  }
  if (found == Found::absent && !create_ && is_unmade(*disk_)) return no_such_queue(location_.queue);
  FQ_TRY(rebuild());
  return store_ != nullptr;
}

Result<Attachment::Found> Attachment::map_existing(const LockIdentity& identity, bool has_identity) {
  store_.reset();
  Result<std::unique_ptr<File>> file = disk_->open("segment", OpenMode::write);
  if (!file.ok()) {
    if (file.error().sys == ENOENT) return Found::absent;
    return std::move(file).error();
  }
  if ((*file)->opened().bytes < kFirstChunkOffset) return Found::garbage;
  File& opened = **file;  // the mapping keeps it
  FQ_TRY_SET(std::unique_ptr<SegmentMemory> memory, map_segment(std::move(file).value(), object()));
  store_ = std::make_unique<Store>(std::move(memory));
  FQ_TRY_SET(const Found found, judge(identity, has_identity));
  // A poisoned one is kept: what its ring holds is rescued before the rebuild.
  if (found != Found::usable && found != Found::poisoned) store_.reset();
  if (found != Found::usable) return found;
  const uint64_t used_bytes = store_->header().segment_bytes.peek();
  if (used_bytes <= opened.opened().bytes) return found;
  // The file after the header: it grows before the header says so, perhaps just now.
  FQ_TRY_SET(const uint64_t bytes_now, opened.size());
  if (used_bytes <= bytes_now) return found;
  store_.reset();
  return Found::garbage;
}

Result<Attachment::Found> Attachment::judge(const LockIdentity& identity, bool has_identity) const {
  const SegmentHeader& header = store_->header();
  // First: all else was written before whoever made it set the phase.
  const Phase phase = header.phase.load(std::memory_order_acquire);
  const SegmentIdentity& own = header.identity;
  if (std::memcmp(own.magic, kSegmentMagic, sizeof own.magic) != 0) return Found::garbage;
  if (own.layout_hash != layout_hash()) return Found::other_build;
  if (identity_crc(own) != header.identity_crc) return Found::garbage;
  if (std::memcmp(own.boot_id, kernel_.boot_id, sizeof own.boot_id) != 0) return Found::absent;
  const bool here = has_identity && own.lock_device == lock_file_->device() &&
                    own.lock_inode == lock_file_->inode() &&
                    std::memcmp(own.nonce, identity.nonce, sizeof own.nonce) == 0;
  if (!here) return Found::absent;
  FQ_TRY_SET(const bool same_pids, shows_same_pids(own));
  if (!same_pids) return Found::foreign;
  FQ_TRY_SET(const bool same_times, shows_same_times(header));
  if (!same_times) return Found::foreign;
  // Whatever the generation: the rebuilder may have died before or after raising it.
  if (phase == Phase::retired) return Found::retired;
  if (own.generation != identity.generation) return Found::absent;
  switch (phase) {
    case Phase::working:
      // No file took the journal any more: one that can be made now may.
      return header.sync_failed.load(std::memory_order_acquire) == 0 ? Found::usable : Found::poisoned;
    case Phase::poisoned:
      return Found::poisoned;
    default:
      return Found::absent;
  }
}

/// Below /proc/self the kernel makes directories for each process anew: it is asked there only in doubt.
Result<bool> Attachment::shows_same_pids(const SegmentIdentity& own) {
  if (own.first_process != 0 && own.first_process == read_first_process()) return true;
  FQ_TRY_SET(const uint64_t ours, read_pid_namespace());
  return own.pid_namespace == ours;
}

/// A time namespace matters by what it adds to the time since boot, and nothing is added to the wall clock:
/// where the two differ as the segment notes it, nobody has to ask the kernel which namespace this is.
Result<bool> Attachment::shows_same_times(const SegmentHeader& header) const {
  const int64_t wall_minus_boot_ms = clock_.wall_ms() - clock_.boot_ms();
  if (std::abs(wall_minus_boot_ms - header.wall_minus_boot_ms.peek()) <= kClockStepMs) return true;
  FQ_TRY_SET(const uint64_t ours, read_time_namespace());
  return header.identity.time_namespace == ours;
}

}  // namespace fq
