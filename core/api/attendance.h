// attendance - the processes that work on a queue, as each engine can tell them.
#pragma once

// System.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>
// fq, below us.
#include "core/base/ids.h"

namespace fq {

/// A worker's description of itself.
struct Attendance {
  uint32_t slots = 0;     // jobs that it runs at once
  uint32_t messages = 1;  // of one job, at most
  bool operator==(const Attendance&) const = default;
};

/// A process that is attached as a worker, or that holds messages by living.
struct Attendee {
  enum class Kind {
    worker,
    holder,  // has not said that it is one
    orphan,  // left behind by the job of a worker that died; it keeps what that held
  };
  Kind kind = Kind::holder;
  int pid = 0;         // 0: no process that we may look at
  std::string host;    // where that is; "": not known
  uint32_t slots = 0;  // worker
  uint32_t busy = 0;   // of them; where a job takes several messages, as few as can hold them
  std::optional<int64_t> since_wall_ms;  // attached; orphan: that its worker was seen dead; none: not known
  std::vector<MessageId> ids;            // at work
  bool stopped = false;  // worker: it starts nothing until it is continued
};

}  // namespace fq
