// followed_queue - a queue of a program that follows fq.toml as the commands do.
//
// Each call through it, `queue->push(...)`, brings the queue up to date first: what the file says then holds,
// from the first call on. That costs one stat while the file is as it was. A call that waits goes on with
// what held when it began, or with what another process has read meanwhile.
#pragma once

// System.
#include <memory>
#include <optional>
#include <utility>
// fq, below us.
#include "core/api/queue.h"

namespace fq {

class FollowedQueue {
 public:
  /// As open_queue. A queue that is there opens whatever its file is like; to make one while the file cannot
  /// be used is ErrorKind::config or denied.
  static Result<FollowedQueue> open(const Location& location, const OpenOptions& options = {});

  Queue* operator->();

  /// Why the file did not hold at the last call as it was then; the last good one did. None: it held. With
  /// Error::passes: it lies on a server that could not be reached.
  const std::optional<Error>& fault() const { return fault_; }

 private:
  FollowedQueue(std::unique_ptr<Queue> queue, Location location)
      : queue_(std::move(queue)), location_(std::move(location)) {}

  std::unique_ptr<Queue> queue_;
  Location location_;
  std::optional<Error> fault_;
};

}  // namespace fq
