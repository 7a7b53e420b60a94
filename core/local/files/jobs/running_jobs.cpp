#include "core/local/files/jobs/running_jobs.h"

// System.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>

namespace fq {

namespace {

constexpr std::string_view kRunning = "running";

}  // namespace

struct flock lock_of(uint64_t byte, int type) {
  struct flock lock {};
  lock.l_type = static_cast<short>(type);
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(byte);
  lock.l_len = 1;
  return lock;
}

Result<std::unique_ptr<File>> open_running(Disk& disk) {
  Result<std::unique_ptr<File>> opened = disk.open(kRunning, OpenMode::write);
  if (opened.ok() || opened.error().sys != ENOENT) return opened;
  opened = disk.open(kRunning, OpenMode::create_new);
  if (opened.ok() || opened.error().sys != EEXIST) return opened;
  return disk.open(kRunning, OpenMode::write);
}

uint64_t RunningJobs::byte_of_all(const ProcessName& worker) {
  constexpr uint64_t kFirst = uint64_t{1} << 62;
  constexpr uint64_t kStarts = uint64_t{1} << 30;
  return kFirst + worker.pid * kStarts + worker.started % kStarts;
}

Result<std::optional<int>> RunningJobs::hold(Disk& disk, std::span<const uint64_t> ids,
                                             const ProcessName& worker) {
  // An open file of its own: its locks are this job's.
  FQ_TRY_SET(const std::unique_ptr<File> running, open_running(disk));
  if (running->descriptor() < 0) return std::optional<int>();
  const uint64_t all = byte_of_all(worker);
  for (const uint64_t byte : ids.empty() ? std::span(&all, 1) : ids) {
    // Shared: two workers of one pid, one after the other, may have the same byte of all.
    struct flock lock = lock_of(byte, F_RDLCK);
    if (::fcntl(running->descriptor(), F_OFD_SETLK, &lock) != 0)
      return sys_error("lock", disk.label() + ": running", errno);
  }
  const int own = ::fcntl(running->descriptor(), F_DUPFD_CLOEXEC, 0);
  if (own < 0) return sys_error("dup", disk.label() + ": running", errno);
  return std::optional<int>(own);
}

Result<RunningJobs> RunningJobs::open(Disk& disk) {
  Result<std::unique_ptr<File>> running = disk.open(kRunning, OpenMode::write);
  if (!running.ok() && running.error().sys == ENOENT) return RunningJobs(nullptr);
  if (!running.ok()) return running.error();
  return RunningJobs(std::move(running).value());
}

std::vector<OfdLock> RunningJobs::processes() const {
  if (!file_) return {};
  return ofd_locks(kRunning, file_->opened().device, file_->opened().inode);
}

int RunningJobs::keeper(std::span<const OfdLock> processes, uint64_t id, const ProcessName& worker) {
  const uint64_t all = byte_of_all(worker);
  const auto found = std::find_if(processes.begin(), processes.end(), [&](const OfdLock& lock) {
    return (lock.first <= id && id <= lock.last) || (lock.first <= all && all <= lock.last);
  });
  return found == processes.end() ? 0 : found->pid;
}

bool RunningJobs::is_locked(uint64_t byte) {
  if (byte >= locked_from_ && byte < locked_to_) return true;
  if (!file_) return false;
  struct flock lock = lock_of(byte, F_WRLCK);
  if (::fcntl(file_->descriptor(), F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return false;
  locked_from_ = static_cast<uint64_t>(lock.l_start);
  locked_to_ = locked_from_ + static_cast<uint64_t>(lock.l_len);
  return true;
}

}  // namespace fq
