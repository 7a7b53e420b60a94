// job_group - a job's process and all that it started and left in its process group.
//
// A process that was killed is not gone at once: it has to be given a processor first, and until then it
// keeps what it holds (a lock, a file). So a verdict that lets the message run again waits until the group is
// gone. The kernel tells nobody of the end of a process that is not our child: it has to be asked for.
#pragma once

// fq, below us.
#include "core/base/clock.h"
// fq, this room.
#include "core/worker/process/launch.h"

namespace fq::worker {

/// To the whole group.
void signal_group(const Process& process, int signal);

/// Nothing of its group is at work any more, so long after it was killed. A process that has ended and is not
/// reaped is waited for a moment only, one that the kernel cannot end (it waits for a disk, say) not for
/// ever. Needs: the process was reaped.
bool group_is_gone(const Process& process, int64_t waited_ms);
/// When to ask again.
int64_t next_look_ms(int64_t waited_ms);

/// How far the end of a process and of what it left in its group has come. Nobody waits for it: it is asked
/// for.
class GroupEnd {
 public:
  /// Needs: the process has ended. Reaps it; `kills`: what it left is killed, and is to be gone too.
  void begin(const Process& process, bool kills, int64_t now_ms);
  bool has_begun() const { return begun_at_ms_ != kNever; }
  /// Needs: it has begun. False: to be asked again at next_ms(). What is gone is not looked for again: its
  /// number may be another group's.
  bool is_gone(const Process& process, int64_t now_ms);
  int64_t next_ms() const { return look_at_ms_; }

 private:
  bool is_gone_ = false;
  int64_t begun_at_ms_ = kNever;
  int64_t look_at_ms_ = kNever;
};

}  // namespace fq::worker
