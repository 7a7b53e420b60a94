#include "core/local/recover/attachment.h"

// fq, below us.
#include "core/base/fault_point.h"
#include "core/engine/no_such_queue.h"
// fq, this room.
#include "core/local/shared/segment_size.h"

namespace fq {

namespace {

constexpr int64_t kAttachTimeoutMs = 5'000;  // settings are behind the door that we are opening
constexpr int64_t kPlaceCheckMs = 2'000;     // chosen: nobody waits for long, and it costs a call
constexpr int kAttachTries = 8;              // against removers and rebuilders that come in between

}  // namespace

Result<std::unique_ptr<Attachment>> Attachment::open(const Location& location, bool create, Clock& clock,
                                                     Holes holes) {
  std::unique_ptr<Attachment> attachment(new Attachment(location, create, clock, holes));
  FQ_TRY(attachment->grip_.read_kernel());
  FQ_TRY(attachment->grip_.open_directory());
  FQ_TRY(attachment->attach());
  return attachment;
}

Result<void> Attachment::attach() {
  const bool had_one = grip_.store() != nullptr;
  if (had_one) grip_.leave();
  Result<void> attached = try_to_attach();
  // There is always a segment to look at, if only a retired one; what was opened for a new one goes.
  if (!attached.ok() && had_one) grip_.come_back();
  return attached;
}

Result<void> Attachment::try_to_attach() {
  for (int attempt = 0; attempt < kAttachTries; ++attempt) {
    FQ_TRY_SET(const bool attached, attach_once());
    if (attached) return {};
  }
  return Error{ErrorKind::later, grip_.object() + ": it is removed or rebuilt again and again", 0};
}

Result<bool> Attachment::attach_once() {
  Result<LockFile> opened = LockFile::open(grip_.disk(), "lock", false);
  if (is_missing(opened) && !grip_.may_create()) {
    // A look makes no queue out of an empty directory.
    if (is_unmade(grip_.disk())) return no_such_queue(grip_.location().queue);
  }
  if (is_missing(opened)) opened = LockFile::open(grip_.disk(), "lock", true);
  if (is_missing(opened)) {
    // The directory is removed with everything in it: not even a lock can be made there.
    FQ_TRY(grip_.open_directory());
    return false;
  }
  if (!opened.ok()) return std::move(opened).error();
  grip_.take_lock_file(std::move(opened).value());
  FQ_TRY_SET(const bool shared, grip_.lock_file().lock(LockFile::Mode::shared, kAttachTimeoutMs));
  if (!shared) {
    return Error{ErrorKind::later,
                 grip_.object() + ": process " + join_pids(grip_.lock_file().holders()) +
                     " has exclusive use of it (to rebuild or remove it); continue or end it",
                 0};
  }
  FQ_POINT("attach.shared");
  if (!grip_.names_own_lock()) {
    // Removed, and perhaps made anew, since we opened it.
    FQ_TRY(grip_.open_directory());
    return false;
  }
  LockIdentity identity;
  FQ_TRY_SET(const bool has_identity, grip_.lock_file().read(identity));
  FQ_TRY_SET(const Found found, grip_.map_segment_there(identity, has_identity));
  // Once: a process that finds others there, or a segment that cannot be smaller, goes on with what is there.
  if (found == Found::usable) {
    return smaller_.was_tried() || !segment_is_too_large(store().header()) || !make_smaller();
  }
  if (found == Found::absent && !grip_.may_create() && is_unmade(grip_.disk()))
    return no_such_queue(grip_.location().queue);
  FQ_TRY(rebuilder_.rebuild());
  return grip_.store() != nullptr;
}

Result<void> Attachment::check_place() {
  const int64_t now_ms = grip_.clock().boot_ms();
  if (now_ms < next_place_check_ms_) return {};
  if (!grip_.is_taken_away()) {
    next_place_check_ms_ = now_ms + kPlaceCheckMs;
    return {};
  }
  return Error{ErrorKind::missing,
               object() + ": its directory was taken away, or another queue is in its place", 0};
}

}  // namespace fq
