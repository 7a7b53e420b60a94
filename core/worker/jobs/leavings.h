// leavings - the pipes of jobs that have ended, to which what they left behind may write still.
//
// Whoever writes to a pipe that nobody reads is killed. So each is read for as long as the worker lives, and
// what comes is dropped. Owns the pipes; of a job that has left nothing behind there is none.
#pragma once

// System.
#include <algorithm>
#include <deque>
// fq, this room.
#include "core/worker/process/capture.h"
#include "core/worker/process/poller.h"

namespace fq::worker {

class Leavings {
 public:
  explicit Leavings(const Poller& poller) : poller_(poller) {}

  /// Needs: it is finished.
  void adopt(Capture& capture) {
    if (!capture.open()) return;
    // It was watched as its job's, or set aside.
    poller_.forget(capture.descriptor());
    poller_.watch(capture.descriptor(), {Watched::leavings, static_cast<uint32_t>(capture.descriptor())});
    if (captures_.size() == kPipesMax) captures_.pop_front();
    captures_.push_back(std::move(capture));
  }
  void take(uint32_t descriptor) {
    const auto found = std::find_if(captures_.begin(), captures_.end(), [&](const Capture& each) {
      return each.descriptor() == static_cast<int>(descriptor);
    });
    if (found == captures_.end()) return;
    if (found->take_some() == Capture::Progress::ended) captures_.erase(found);
  }

 private:
  // Where each job leaves something for ever, the worker still has descriptors for the next ones; arbitrary.
  static constexpr size_t kPipesMax = 256;

  const Poller& poller_;
  std::deque<Capture> captures_;  // by age
};

}  // namespace fq::worker
