// worker - the loop that starts a command for every message and watches over it.
//
// One thread, which sleeps in one place (Poller): it starts processes, hears of their ends, passes on what
// they write, keeps their limits. Another thread a queue does what may wait (Books). The processes die with
// the thread that started them, so this one lives as long as the worker.
//
// A message's way: Queues leases it -> Intake -> a free slot (or a gathering batch, or Streams) -> a process
// -> its end makes a VerdictOrder -> Queues settles it. This class owns what these share, hands each event to
// the one that it is for, and does what a stop asks for.
#pragma once

// fq, this room.
#include "core/worker/intake.h"
#include "core/worker/onlooker.h"
#include "core/worker/process/notify.h"

namespace fq::worker {

class Worker {
 public:
  Worker(std::vector<Source> sources, const Options& options, const Voice& voice);
  Result<End> run();

 private:
  Result<void> prepare();
  bool is_finished() const;
  size_t untold_verdicts() const;
  int wait_ms() const;
  void on_event(const Event& event);
  void on_signals();
  void on_process(Slot& slot);
  void on_time();
  void follow_shutdown();
  std::string status();
  void watch_passages();
  void on_passage(uint32_t which);

  const Options& options_;
  Environment environment_;
  Poller poller_;
  Descriptor signals_;
  Descriptor event_;
  Passage out_;
  // Where both have one reader, one passage: two would cut each other's lines, wherever he has room again.
  std::optional<Passage> own_err_;
  Passage& err_;
  bool passages_watched_[2] = {false, false};
  Workshop shop_;
  Shutdown shutdown_;
  Queues queues_;
  Slots slots_;
  Streams streams_;
  Intake intake_;
  Onlooker onlooker_;
  Notify notify_;
  int64_t notify_ms_ = 0;  // at once: a queue that does not answer brings no event that we could wait for
};

}  // namespace fq::worker
