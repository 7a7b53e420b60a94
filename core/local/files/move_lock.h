// move_lock - one process of a spool at a time moves messages between its queues, copies them all, renames
// one, or finishes what another had begun. So while a process lists the queues and goes through them, none is
// passed over, and no message is in two of them or in none.
//
// A flock of the directory that the queues lie in: the kernel gives it back with its process, so a process
// that has it knows that no other is at the moves that are not finished.
#pragma once

// System.
#include <optional>
#include <string>
#include <vector>
// fq, below us.
#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace fq {

class MoveLock {
 public:
  /// None: another process had it all the time, or the spool has no queue.
  static Result<std::optional<MoveLock>> take(const std::string& spool, int64_t timeout_ms);
  /// What a process that waited for it in vain says: ErrorKind::later, with those that have it.
  static Error taken(const std::string& spool);

 private:
  explicit MoveLock(Descriptor directory) : directory_(std::move(directory)) {}
  Descriptor directory_;
};

}  // namespace fq
