// worker guard - a process that outlives the worker which starts it, as its end towards that.
//
// A server hears of a death only by silence, and of a job that outlives its worker never. The guard sees both
// at once, since the kernel closes what a process had open; and while the worker is stopped, it says to the
// server that it lives, and is stopped.
#pragma once

// System.
#include <optional>
#include <span>
#include <string>
#include <vector>
// fq, below us.
#include "core/base/descriptor.h"
#include "core/base/ids.h"
#include "core/base/result.h"
// fq, this room.
#include "core/redis/shard/shard.h"

namespace fq {

class WorkerGuard {
 public:
  /// `tags`: of all shards of the queue. Nothing is started before there is a job.
  WorkerGuard(const ServerAccess& access, std::string nonce, std::vector<std::string> tags)
      : access_(access), nonce_(std::move(nonce)), tags_(std::move(tags)) {}
  /// The session has given back what it had: the guard has nothing more to do.
  ~WorkerGuard();
  WorkerGuard(const WorkerGuard&) = delete;
  WorkerGuard& operator=(const WorkerGuard&) = delete;

  /// As of Queue. None: this program has no guard.
  Result<std::optional<int>> hold_for_job(std::span<const MessageId> ids, std::optional<int64_t> limit_ms);

 private:
  Result<void> start();

  const ServerAccess access_;
  const std::string nonce_;
  const std::vector<std::string> tags_;
  Descriptor socket_;
};

}  // namespace fq
