#include "core/local/recover/grip.h"

// System.
#include <cerrno>
#include <cstdlib>
// fq, this room.
#include "core/local/shared/layout.h"

namespace fq {

namespace {

constexpr int kOpenTries = 8;  // against removers that come in between
constexpr size_t kLeftSegmentsMax = 64;

}  // namespace

Result<void> Grip::open_directory() {
  Result<std::unique_ptr<Disk>> disk = open_queue_directory(location_.spool, location_.queue);
  // What was made may be removed before it is opened: then it is made anew.
  for (int attempt = 0; may_create_ && is_missing(disk) && attempt < kOpenTries; ++attempt) {
    const Result<bool> made = make_queue_directory(location_.spool, location_.queue);
    if (!made.ok() && (!is_missing(made) || attempt + 1 == kOpenTries)) return made.error();
    disk = open_queue_directory(location_.spool, location_.queue);
  }
  if (!disk.ok()) return std::move(disk).error();
  disk_ = std::move(disk).value();
  return {};
}

void Grip::leave() {
  FQ_ASSERT(left_.size() < kLeftSegmentsMax);
  left_.push_back(std::move(store_));
  // Objects that still refer to it go on finding it; only its hold on the queue ends.
  lock_file_->unlock();
  left_locks_.push_back(std::move(lock_file_));
}

void Grip::come_back() {
  store_ = std::move(left_.back());
  left_.pop_back();
  lock_file_ = std::move(left_locks_.back());
  left_locks_.pop_back();
}

void Grip::replace(std::unique_ptr<Store> store) {
  if (store_ != nullptr) left_.push_back(std::move(store_));
  store_ = std::move(store);
}

Result<Found> Grip::map_segment_there(const LockIdentity& identity, bool has_identity) {
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

Result<Found> Grip::judge(const LockIdentity& identity, bool has_identity) const {
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
Result<bool> Grip::shows_same_pids(const SegmentIdentity& own) {
  if (own.first_process != 0 && own.first_process == read_first_process()) return true;
  FQ_TRY_SET(const uint64_t ours, read_pid_namespace());
  return own.pid_namespace == ours;
}

/// A time namespace matters by what it adds to the time since boot, and nothing is added to the wall clock:
/// where the two differ as the segment notes it, nobody has to ask the kernel which namespace this is.
Result<bool> Grip::shows_same_times(const SegmentHeader& header) const {
  const int64_t wall_minus_boot_ms = clock_.wall_ms() - clock_.boot_ms();
  if (std::abs(wall_minus_boot_ms - header.wall_minus_boot_ms.peek()) <= kClockStepMs) return true;
  FQ_TRY_SET(const uint64_t ours, read_time_namespace());
  return header.identity.time_namespace == ours;
}

}  // namespace fq
