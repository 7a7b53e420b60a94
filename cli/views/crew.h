// crew - the processes that work on the queues: what each queue tells of a process, put together.
#pragma once

// System.
#include <string>
#include <vector>
// fq, below us.
#include "core/api/attendance.h"

namespace fq::cli {

class Crew {
 public:
  /// A process, with what all its queues tell of it.
  struct Member {
    Attendee all;
    std::vector<std::string> queues;
  };
  /// The workers of one queue together; a slot that is busy with another queue's message is busy.
  struct Hands {
    uint64_t workers = 0;
    uint64_t slots = 0;  // of those that are not stopped
    uint64_t busy = 0;
    uint64_t stopped = 0;  // workers: what they have at work rests, and they start nothing
  };

  void add(const std::string& queue, Attendee one);
  const std::vector<Member>& members() const { return members_; }
  Hands hands_of(const std::string& queue) const;

 private:
  std::vector<Member> members_;
};

}  // namespace fq::cli
