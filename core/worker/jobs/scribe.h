// scribe - the thread that hands on what jobs write, where each call of that waits for a server.
//
// The main thread keeps the jobs' time limits, so it must not wait with them. A run that is lent to a scribe
// takes what it is told at once, and the thread passes it on in that order, run after run. For what is not
// passed on yet a run has a bounded room, and says that it has none when that is full: its job then waits in
// its own pipe, and nothing is lost.
#pragma once

// System.
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
// fq, below us.
#include "core/api/job_output.h"

namespace fq::worker {

class Scribe {
 public:
  // Of each channel: with what is read at once it is what a server takes in one call.
  static constexpr uint64_t kRoomBytes = 192 * 1024;
  static constexpr uint64_t kBeginBytes = 16 * 1024;  // kept of each channel of a run that cannot be opened

  Scribe() = default;
  /// Passes on what it was told before.
  ~Scribe();
  Scribe(const Scribe&) = delete;
  Scribe& operator=(const Scribe&) = delete;

  /// What is not passed on yet never is, and the runs are left as they are: their engine sees our death.
  void abandon();

  /// The same run, of which no call waits; `bytes_max` are to be kept of each channel. It may outlive this, but
  /// is not passed on then.
  std::shared_ptr<RunOutput> lend(std::shared_ptr<RunOutput> far, uint64_t bytes_max);

 private:
  struct Desk;
  struct Lent;
  class LentRun;
  static void run(Desk& desk);
  static void pass_on(Lent& lent, std::unique_lock<std::mutex>& lock);

  const std::shared_ptr<Desk> desk_ = make_desk();
  static std::shared_ptr<Desk> make_desk();
};

}  // namespace fq::worker
