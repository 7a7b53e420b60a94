#include "core/local/files/jobs/step_lock.h"

// System.
#include <fcntl.h>

#include <cerrno>
// fq, below us.
#include "core/engine/signals_allowed.h"
#include "core/base/name_hash.h"
// fq, this room.
#include "core/local/files/jobs/running_jobs.h"

namespace fq {

namespace {

/// Between those of messages and those of all that a process holds.
uint64_t byte_of(uint64_t id, std::string_view name) {
  constexpr uint64_t kFirst = uint64_t{1} << 61;
  return kFirst + hash_name(id, 0, name) % kFirst;
}

}  // namespace

Result<std::unique_ptr<StepLock>> StepLock::take(Disk& disk, uint64_t id, std::string_view name,
                                                 const Interrupt* interrupt) {
  FQ_TRY_SET(std::unique_ptr<File> running, open_running(disk));
  const uint64_t byte = byte_of(id, name);
  const int descriptor = running->descriptor();
  std::unique_ptr<StepLock> lock(new StepLock(std::move(running), byte));
  if (descriptor < 0) return lock;
  struct flock wanted = lock_of(byte, F_WRLCK);
  const SignalsAllowed allowed(true);
  // A signal that came before the wait interrupts no call: it is asked for each time.
  do {
    if (interrupt != nullptr && interrupt->raised())
      return Error{ErrorKind::later, "step '" + std::string(name) + "': interrupted", 0};
    if (::fcntl(descriptor, F_OFD_SETLKW, &wanted) == 0) return lock;
  } while (errno == EINTR);
  return sys_error("lock", disk.label() + ": running", errno);
}

StepLock::~StepLock() {
  if (file_->descriptor() < 0) return;
  struct flock released = lock_of(byte_, F_UNLCK);
  static_cast<void>(::fcntl(file_->descriptor(), F_OFD_SETLK, &released));
}

}  // namespace fq
