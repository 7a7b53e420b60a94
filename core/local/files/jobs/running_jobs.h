// running_jobs - `running`, the file whose locks tell which messages' jobs still live.
//
// A job that outlives its worker keeps its message: it inherited a descriptor with a lock on the byte that
// has its message's id for a number, or on the byte of all that its worker holds. The locks belong to the
// open file (OFD), so they go with the last process that has it open, and the kernel tells of them without
// taking any.
#pragma once

// System.
#include <fcntl.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>
// fq, below us.
#include "core/base/disk/disk.h"
// fq, this room.
#include "core/local/files/process_info.h"

namespace fq {

/// The file, made where it was not there yet; and a lock of one byte of it, of F_RDLCK or its like.
Result<std::unique_ptr<File>> open_running(Disk& disk);
struct flock lock_of(uint64_t byte, int type);

/// The name of a process that no later one will have.
struct ProcessName {
  uint32_t pid = 0;
  uint64_t started = 0;  // see process_started
  bool operator==(const ProcessName&) const = default;
};

class RunningJobs {
 public:
  /// A descriptor that keeps the messages, or without any all that `worker` holds. The caller closes it. None
  /// on a fake disk.
  static Result<std::optional<int>> hold(Disk& disk, std::span<const uint64_t> ids,
                                         const ProcessName& worker);

  /// To be asked; of a queue that had no job yet too.
  static Result<RunningJobs> open(Disk& disk);
  /// Whether what a job of this one left behind keeps all that it held.
  bool keep_all(const ProcessName& worker) { return is_locked(byte_of_all(worker)); }
  /// Whether the message's job, or what that left behind, lives.
  bool keep(uint64_t id) { return is_locked(id); }

  /// The processes that have locks, as far as /proc tells us. Looks at every process: for when there is
  /// something to tell.
  std::vector<OfdLock> processes() const;
  /// Of these one that keeps what `worker` held; 0: none.
  static int keeper(std::span<const OfdLock> processes, uint64_t id, const ProcessName& worker);

 private:
  explicit RunningJobs(std::unique_ptr<File> file) : file_(std::move(file)) {}

  /// Stands for all that the process holds; far behind the ids.
  static uint64_t byte_of_all(const ProcessName& worker);
  bool is_locked(uint64_t byte);

  std::unique_ptr<File> file_;  // null: there is none
  // The lock that was found last: neighbours of one batch are told by one question.
  uint64_t locked_from_ = 0;
  uint64_t locked_to_ = 0;
};

}  // namespace fq
