// roll - the processes that are attached to the queue as workers, and those that hold messages by living or
// by what they left behind.
#pragma once

// fq, this room.
#include "core/local/consume/reaper.h"

namespace fq {

class Roll : private Linked {
 public:
  Roll(Link& link, Reaper& reaper) : Linked(link), reaper_(reaper) {}

  Result<std::vector<Attendee>> call();

 private:
  struct AttendeeSnapshot;
  std::vector<AttendeeSnapshot> seen();
  Result<std::vector<MessageId>> held_by(const AttendeeSnapshot& holder);
  void add_orphans(const AttendeeSnapshot& dead, const std::vector<MessageId>& ids,
                   std::vector<Attendee>& all);

  Reaper& reaper_;
};

}  // namespace fq
