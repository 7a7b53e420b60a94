// books - the thread that speaks to one queue: it takes messages for the free slots and gives the verdicts.
//
// The main thread starts and watches processes and must never wait for a disk; this one may. They meet in a
// mailbox: orders in, news out, an eventfd that says "news". The queue is used by this thread alone, and
// this thread lives as long as the worker, also after a fault of the queue, since the leases are held by its
// life.
#pragma once

// System.
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>
// fq, below us.
#include "core/base/descriptor.h"
// fq, this room.
#include "core/worker/jobs/scribe.h"
#include "core/worker/jobs/verdict_order.h"
#include "core/worker/process/options.h"

namespace fq::worker {

/// A message for a job, and the descriptor that the job inherits so that its message waits for it; those that
/// were taken together share it. Null: the engine has nothing like it.
struct Arrival {
  Delivery delivery;
  std::shared_ptr<const Descriptor> kept;
  std::shared_ptr<RunOutput> output;  // for a job of its own; null: the same
};

/// Messages that are run together. More than one, or `many`: as a batch.
struct Load {
  size_t source = 0;  // index of its queue
  std::vector<Arrival> arrivals;
  bool many = false;
  uint64_t ran_us = 0;  // each of them before, in a batch that failed
};

/// What others have made of a message, and the line about that, for where we give no verdict on it; "": none.
struct HeardChange : LeaseChange {
  std::string told;
};

struct News {
  std::vector<Arrival> arrivals;
  std::vector<HeardChange> changes;
  std::vector<std::string> notices;
  std::optional<Settings> settings;  // when they have changed
  bool servable = false;             // something could be taken (only where asked to look)
  bool idle = false;                 // the queue has nothing left
  bool nothing = false;              // there was nothing to take or to look at (where it does not wait)
  bool partial = false;              // likewise, but not everywhere could it be looked
  size_t used = 0;                   // of what was allowed, by what arrived
  size_t refused = 0;                // of what was allowed: it found nothing
  size_t settled = 0;                // verdicts that were given
  std::vector<MessageId> acked;      // strict: those of them
  std::vector<MessageId> lost;       // buried by the queue and not handed out
  std::optional<Error> untold;       // a part of the queue can keep no verdict any more
  size_t confirmed = 0;              // how often it was asked to confirm, and the changes are all told
  bool more = false;                 // all that was allowed was taken, and there is more
  std::optional<Error> failed;       // the queue cannot be used any more
};

class Books {
 public:
  struct Terms {
    bool waits = true;         // for messages; else one look, and `nothing`
    bool looks_first = false;  // say `servable`, take when allowed: several queues share the slots, or
                               // their number follows the backlog
    bool until_idle = false;
    bool together = false;  // messages taken at once go to one job
    size_t lot = 0;  // together: the most of one take, and each take uses up one of what is allowed; 0: each
                     // message does
  };

  Books(Source& source, const Options& options, const Voice& voice, const Terms& terms, int event);
  ~Books();
  /// No round is begun any more but one for the verdicts that were ordered, and what is still held goes back.
  /// After it all news is told, and open_orders() are verdicts that are never given.
  void end();

  // For the main thread. Takes and orders are carried out after the next send(): one wake-up for all.
  void allow(size_t slots);
  void settle(VerdictOrder order);
  /// Asks what others have made of the messages that are held, up to now. The news that says `confirmed` has
  /// all such changes that no news before it had.
  void confirm();
  void send();
  void read_policy() { ask_for(&Books::read_policy_); }
  /// Where it was told that the queue is idle: to look once more.
  void look_idle_again() { ask_for(&Books::idle_again_); }
  /// At the end what is held is not given back: the engine sees our death, and what still lives.
  void abandon();
  /// No more messages; verdicts are still given.
  void take_no_more();
  /// Nothing is run again: what has been asked to be confirmed needs no more than a try.
  void confirm_at_once() { ask_for(&Books::confirms_at_once_); }
  News take_news();
  /// How many verdicts were ordered that are not given yet.
  size_t open_orders() const { return ordered_ - settled_; }

 private:
  struct Work {
    std::vector<VerdictOrder> orders;
    size_t unconfirmed = 0;
    size_t allowed = 0;
    bool look = false;
    bool stop = false;
    bool read_policy = false;
    bool idle_again = false;
  };

  /// The message and the number of its delivery: of one queue no two are alike.
  static std::pair<uint64_t, uint64_t> delivery_of(const Receipt& receipt);
  void ask_for(bool Books::*flag);
  void run();
  bool step();
  Result<void> serve(Work& work);
  bool try_later(Work& work, const Error& error);
  Work take_work();
  Result<void> give(std::vector<VerdictOrder>& orders);
  Result<void> take(const Work& work, bool wait);
  Result<void> look_for_changes(size_t& unconfirmed);
  std::string told_of_settled(uint64_t id);
  std::string told_in_vain(const VerdictOrder& order, const Error& why) const;
  std::vector<HeardChange> heard(std::vector<LeaseChange>& changes);
  Result<void> refresh();
  int64_t run_limit_of(const Delivery& delivery) const;
  void hold_all(std::span<const Delivery> deliveries);
  std::shared_ptr<RunOutput> run_output_of(const Delivery& delivery);
  std::shared_ptr<const Descriptor> hold(std::span<const MessageId> ids, const Delivery& first);
  void hand_over(LeaseReply& reply, size_t allowed);
  void book(const LeaseReply& reply, size_t allowed, size_t taken);
  void announce();

  Source& source_;
  const Options& options_;
  const Voice& voice_;
  const Terms terms_;
  const int event_;
  Interrupt interrupt_;
  std::optional<Settings> settings_;
  std::string policy_fault_;
  std::string hold_fault_;
  std::string output_fault_;
  std::set<std::pair<uint64_t, uint64_t>>
      outstanding_;             // deliveries that were handed over and have not ended
  bool is_later_told_ = false;  // that something is tried again, since the last round that went well
  bool idle_told_ = false;
  int64_t confirm_at_ms_ = 0;  // not all changes were told: when they are asked for again; 0: they were
  std::shared_ptr<const Descriptor> all_;  // for a command that stays up: it keeps all that we hold
  int64_t all_limit_ms_ = 0;               // for how long

  std::mutex mutex_;  // guards what follows
  std::vector<VerdictOrder> orders_;
  size_t unconfirmed_ = 0;
  size_t allowed_ = 0;
  bool closed_ = false;
  bool confirms_at_once_ = false;
  bool stop_ = false;
  bool look_ = true;
  bool read_policy_ = true;
  bool idle_again_ = false;
  bool abandoned_ = false;
  News news_;
  std::condition_variable stopped_;

  // Of the main thread alone.
  size_t ordered_ = 0;
  size_t settled_ = 0;
  bool unsent_ = false;

  Scribe scribe_;
  std::thread thread_;
};

}  // namespace fq::worker
