#include "core/local/files/move_lock.h"

// System.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
// fq, this room.
#include "core/local/files/process_info.h"

namespace fq {

namespace {

constexpr int64_t kPauseMaxMs = 20;

std::string queues_of(const std::string& spool) { return spool + "/queues"; }

}  // namespace

Result<std::optional<MoveLock>> MoveLock::take(const std::string& spool, int64_t timeout_ms) {
  const std::string path = queues_of(spool);
  Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0 && errno == ENOENT) return std::optional<MoveLock>();
  if (directory.get() < 0) return sys_error("open", path, errno);
  // As in LockFile::lock: a flock has no time limit.
  int64_t pause_ms = 1;
  for (int64_t waited_ms = 0; ::flock(directory.get(), LOCK_EX | LOCK_NB) != 0;) {
    if (errno != EWOULDBLOCK && errno != EINTR) return sys_error("flock", path, errno);
    if (waited_ms >= timeout_ms) return std::optional<MoveLock>();
    const timespec pause{0, pause_ms * 1'000'000};
    ::nanosleep(&pause, nullptr);
    waited_ms += pause_ms;
    pause_ms = std::min(pause_ms * 2, kPauseMaxMs);
  }
  return std::optional(MoveLock(std::move(directory)));
}

Error MoveLock::taken(const std::string& spool) {
  struct stat status {};
  std::string holders;
  if (::stat(queues_of(spool).c_str(), &status) == 0)
    holders = " in process " + join_pids(flock_holders(status.st_dev, status.st_ino));
  return Error{ErrorKind::later,
               "spool '" + spool + "': another move, rename or backup is under way" + holders +
                   "; try again when it is done",
               0};
}

}  // namespace fq
