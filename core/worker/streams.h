// streams - commands that stay up: which of them gets a message, when one more is started, when they end.
//
// Owns the time before which none is started; the streams themselves are in slots. A message goes to the
// command that has the fewest open, never to one that has `prefetch` of them; a command that died is not
// started again in a hurry. Needs: one queue, since what a stream is told of it is told once.
#pragma once

// fq, this room.
#include "core/worker/jobs/queues.h"
#include "core/worker/jobs/slots.h"
#include "core/worker/shutdown.h"

namespace fq::worker {

class Streams {
 public:
  Streams(const Poller& poller, Slots& slots, Queues& queues, Shutdown& shutdown, const Options& options)
      : poller_(poller), slots_(slots), queues_(queues), shutdown_(shutdown), options_(options) {}

  /// How many messages they could be given now.
  size_t room() const;
  /// When room() may grow by itself; kNever: it does not.
  int64_t next_ms(int64_t now_ms) const { return start_ms_ > now_ms ? start_ms_ : kNever; }
  void give(Arrival arrival);
  /// Many lines in one write.
  void flush();
  void on_event(Slot& slot, Watched what);
  /// Its process has ended; its slot is free once nothing of it is at work.
  void on_end(Slot& slot);
  void on_time(int64_t now_ms);
  /// Those that have read nothing of a message give it back.
  void stop();
  /// A slot was given up: a command that has nothing open holds it no longer.
  void dismiss_spare(int64_t now_ms);

 private:
  bool start(Slot& slot, const std::shared_ptr<const Descriptor>& kept);
  void flush(Slot& slot);
  void settle(std::vector<VerdictOrder> orders);

  const Poller& poller_;
  Slots& slots_;
  Queues& queues_;
  Shutdown& shutdown_;
  const Options& options_;
  int64_t start_ms_ = 0;
};

}  // namespace fq::worker
