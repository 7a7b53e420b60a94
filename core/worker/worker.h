// worker - the loop that starts a command for every message and watches over it.
//
// One thread, which sleeps in one place (Poller): it starts processes, hears of their ends, passes on what
// they write, keeps their limits. Another thread a queue does what may wait (Books). The processes die with
// the thread that started them, so this one lives as long as the worker.
//
// A message's way: Books leases it -> a free slot (or a gathering batch, or a stream) -> a process -> its end
// makes an VerdictOrder -> Books settles it.
#pragma once

// System.
#include <deque>
// fq, this room.
#include "core/worker/jobs/gather.h"
#include "core/worker/jobs/growth.h"
#include "core/worker/process/notify.h"
#include "core/worker/process/poller.h"
#include "core/worker/jobs/job_stream.h"

namespace fq::worker {

class Worker {
 public:
  Worker(std::vector<Source> sources, const Options& options, const Voice& voice);
  Result<End> run();

 private:
  struct Slot {
    uint32_t number = 0;  // from 1
    std::unique_ptr<Job> job;
    std::unique_ptr<JobStream> stream;
    size_t source = 0;  // of the job
  };
  /// What is known of one queue.
  struct Served {
    std::unique_ptr<Books> books;
    Settings settings;
    size_t allowed = 0;  // messages that it may bring and has not brought
    bool hungry = false;
    bool idle = false;
    bool empty = false;  // one look found nothing
  };

  // worker.cpp: the loop
  Result<void> prepare();
  int wait_ms() const;
  void on_event(const Event& event);
  void on_signals();
  void close_idle_streams(int64_t now_ms);
  void close_spare_stream(int64_t now_ms);
  void on_time();
  bool is_finished() const;

  // worker_intake.cpp: from the queues to the slots
  void on_news();
  void take_in(size_t source, News& news);
  bool stays_drained();
  void sort_in(size_t source, Arrival arrival);
  std::string misfit(const Delivery& delivery) const;
  void on_change(const LeaseChange& change);
  void drop_waiting(const Receipt& receipt);
  void allow();
  size_t gathered_max() const;
  size_t wanted() const;
  void start_ready();
  void start(Slot& slot, Load load);
  void refuse(Load& load, const Error& error);
  void settle(size_t source, VerdictOrder order);
  void bury(size_t source, const Delivery& delivery, const std::string& reason);
  void release(Load& load);
  void release_waiting();

  // worker_jobs.cpp: what happens to processes
  void on_process(Slot& slot);
  void on_job_end(Slot& slot);
  void on_stream_end(Slot& slot);
  void on_output(Slot& slot, Watched what);
  void on_stream(Slot& slot, Watched what);
  void give_to_stream(Arrival arrival);
  bool start_stream(Slot& slot, const std::shared_ptr<const Descriptor>& kept);
  void flush_streams();
  void flush(Slot& slot);
  void watch_capture(const Capture& capture, Event event) const;
  void watch_passages();
  void on_passage(uint32_t which);

  void say(std::string_view text) { err_.write(voice_.spoken(text)); }
  /// Nobody reads what the jobs write: no more of them are started.
  bool is_blocked() const { return !out_.has_room() || !err_.has_room(); }
  void finish_passages();
  void stop(End end);
  std::string status() const;
  Workshop shop(size_t source);
  size_t busy() const;
  size_t at_work() const;
  size_t free_slots() const;
  Slot* free_slot();

  std::vector<Source> sources_;
  const Options& options_;
  const Voice& voice_;
  Environment environment_;
  Poller poller_;
  Descriptor signals_;
  Descriptor event_;
  Passage out_;
  Passage err_;
  bool passages_watched_[2] = {false, false};
  Growth growth_;
  Gather gather_;
  Notify notify_;
  std::vector<Served> served_;
  std::vector<Slot> slots_;
  std::deque<Load> ready_;  // loads that wait for a slot
  size_t next_turn_ = 0;    // of the queues
  size_t unconfirmed_ = 0;  // loads whose messages are looked at before they are run again
  uint64_t started_count_ = 0;
  uint64_t seen_count_ = 0;                 // messages
  std::optional<uint64_t> seen_when_idle_;  // how many, when all queues were idle last
  bool looks_first_ = false;                // what there is, before slots are given to it
  bool stopping_ = false;
  bool told_to_stop_ = false;     // by a signal
  int64_t leave_at_ms_ = kNever;  // whatever still runs
  int64_t rest_until_ms_ = 0;     // nothing is started: something that every start needs is short
  bool closed_ = false;           // takes no more messages
  End end_ = End::done;
  int64_t kill_at_ms_ = kNever;  // of what still runs
  int64_t notify_ms_ = kNever;
  int64_t stream_start_ms_ = 0;  // not before: a stream that dies at once is not started in a hurry
  std::optional<Error> failed_;
};

}  // namespace fq::worker
