// visits - to which of many shards who wants work goes next.
//
// Each shard tells by its root, which is read and not called, what in it can be served, by weight, what a
// turn there costs on average, and when time changes something there. The rule over shards is that over
// tenants: each is given turns by the weight of the accounts in it, pays for them, and one that had nothing
// begins level. Who comes for the first time draws by weight over cost.
#pragma once

// System.
#include <map>
#include <optional>
#include <random>
#include <set>
#include <vector>
// fq, this room.
#include "core/redis/sharded/purses.h"
#include "core/redis/waits/shard_time.h"

namespace fq {

class Visits {
 public:
  Visits(Shards& shards, Purses& purses);

  /// Reads what there is now, where what is known is old. `fresh`: in any case. Shards that do not answer
  /// have nothing; an Error: none of them does, or the queue is gone.
  Result<void> look(bool fresh);
  /// A pass begins: who has given nothing may have something again.
  void begin();

  struct Visit {
    size_t shard = 0;
    size_t turns = 1;  // until another one has its turn
  };
  /// None: nobody is known to have something, but for those that were asked in this pass. `only`: this one.
  std::optional<Visit> next(size_t want, std::optional<size_t> only) const;
  /// What came of it. Less than was asked for: nothing more in this pass. `is_empty`: nothing is left there
  /// that could be served now.
  void served(const Visit& visit, const RedisLeases::Added& given, bool is_empty);
  /// It did not answer.
  void lost(size_t shard, Error error);
  /// What is due there cannot be done now: for a while it is as one that does not answer.
  void cannot_do(size_t shard, const Error& error);
  /// In these more is due than was done now: the others have their turns before.
  void put_off(std::set<size_t> shards) { put_off_ = std::move(shards); }
  bool is_put_off(size_t shard) const { return put_off_.contains(shard); }
  bool is_any_put_off() const { return !put_off_.empty(); }
  /// None of them was lost.
  bool are_all_there() const { return faults_.empty(); }
  /// What is told is without them.
  void tell_lost();
  /// Of one of them, that no time mends.
  std::optional<Error> lasting_fault() const;
  bool is_any_open() const;
  /// It has something that needs no loan.
  bool is_open(size_t shard) const { return all_[shard].is_open; }
  /// Those that have something only once they are lent what they lack.
  std::vector<size_t> wanting() const;
  /// Those in which something is due, or which are to be called for their time to go on.
  std::vector<size_t> due() const;
  /// When something is; none: nobody knows of anything.
  std::optional<int64_t> next_due_ms() const;

  /// So long who waits looks at nothing, should it be told of nothing: longer the more others do.
  int64_t look_ms() const;

  /// From now on its news is looked for, too.
  void watch(size_t shard) { watched_.insert(shard); }
  /// Those of watched ones that have some.
  const std::vector<size_t>& with_news() const { return with_news_; }

 private:
  struct Shard {
    double weight = 0;     // of what can be served, in accounts of weight 1, with loans too
    bool is_open = false;  // without loans
    double toll = 0;       // what a turn there costs on average, in turns; 0: it has not said so
    double tag = 0;        // what it was given, by weight
    ShardTime time;
    int64_t clock_ahead_ms = 0;   // of our clock
    int64_t due_ms = -1;          // by its time; -1: nothing is
    int64_t session_end_ms = -1;  // of who may be dead: likewise
    bool is_spent = false;        // in this pass
  };
  void note(Shard& shard, double weight);
  void take_tolls(const std::vector<Result<Reply>>& replies);
  double toll_of(const Shard& shard) const { return shard.toll > 0 ? shard.toll : usual_toll_.value_or(1); }
  Result<void> take(size_t shard, const Result<Reply>& root);
  Result<void> ask_for_root(size_t shard);
  void take_root(size_t shard, const Reply& root);
  bool is_candidate(size_t shard, std::optional<size_t> only) const;
  int64_t clock_ms(const Shard& shard) const;

  Shards& shards_;
  Purses& purses_;
  std::vector<Shard> all_;
  double clock_ = 0;
  bool was_served_ = false;
  std::optional<double> usual_toll_;  // of shards that have not said so: of those that have; none: a turn
  std::mt19937_64 random_;
  std::set<size_t> watched_;
  std::vector<size_t> with_news_;
  std::set<size_t> put_off_;
  std::map<size_t, Error> faults_;  // of those that did not answer last
  uint64_t waiters_ = 0;            // of the shard that has the most
  int64_t looked_at_ms_ = -1;       // by our clock
};

}  // namespace fq
