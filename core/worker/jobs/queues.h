// queues - the queues that a worker serves: the books of each, and the facts about it.
//
// Owns the books, whose threads end with it, and how many messages each queue may bring and has not brought:
// allow() adds to that, take_news() takes from it. Several queues take turns, and one that has nothing gets
// no turn.
#pragma once

// System.
#include <set>
// fq, this room.
#include "core/worker/jobs/books.h"
#include "core/worker/jobs/workshop.h"

namespace fq::worker {

class Queues {
 public:
  Queues(std::vector<Source> sources, const Workshop& shop) : sources_(std::move(sources)), shop_(shop) {}

  void open(const Books::Terms& terms, int event);
  /// Ends the books, and says what they had still to tell. Messages that they hold go back, or are `abandoned`:
  /// see Books. Returns: how many verdicts were never given.
  size_t close(bool abandoned);

  size_t size() const { return sources_.size(); }
  bool looks_first() const { return looks_first_; }
  /// For a job of its messages.
  const Workshop& shop(size_t queue) const { return served_[queue].shop; }
  const std::string& name(size_t queue) const { return sources_[queue].name; }
  bool is_any_hungry() const { return any(&Served::hungry); }
  /// All of them have nothing left.
  bool are_idle() const { return all(&Served::idle); }
  /// All of them were looked at once and had nothing.
  bool are_empty() const { return all(&Served::empty); }
  /// Of one of them a part did not answer, and may have something.
  bool is_any_partial() const { return any(&Served::partial); }
  size_t allowed() const;
  /// Of all of them, how many verdicts are not given yet.
  size_t open_orders() const;

  /// `room` messages may come; at most `turn` of each of several queues.
  void allow(size_t room, size_t turn);
  News take_news(size_t queue);
  /// strict: it is run, or buried instead.
  void note_run(size_t queue, MessageId id) {
    if (shop_.options.strict) served_[queue].not_acked.insert(number(id));
  }
  void settle(size_t queue, VerdictOrder order) { served_[queue].books->settle(std::move(order)); }
  void confirm(size_t queue) { served_[queue].books->confirm(); }
  void look_idle_again();

  // For all of them, as Books says it.
  void send();
  void read_policy();
  void take_no_more();
  void confirm_at_once();

 private:
  struct Served {
    Workshop shop;
    std::unique_ptr<Books> books;
    size_t allowed = 0;
    bool hungry = false;
    bool idle = false;
    bool empty = false;
    bool partial = false;          // of what was found empty a part did not answer
    std::set<uint64_t> not_acked;  // strict: ids that were run
  };
  void tell_not_acked() const;
  bool any(bool Served::*flag) const;
  bool all(bool Served::*flag) const;

  std::vector<Source> sources_;
  Workshop shop_;
  std::vector<Served> served_;
  bool looks_first_ = false;
  size_t next_turn_ = 0;
};

}  // namespace fq::worker
