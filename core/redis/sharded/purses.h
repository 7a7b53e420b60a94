// purses - limits that count over all shards of a queue: brings a shard what it lacks of one.
//
// Each limit is cut into units, and lies in a purse: core/redis/lua/calls/purse.lua says what keeps all
// shards together below it, whatever is lost. Here is only who carries units: from a purse to a shard that
// lacks some, and where a purse has none, back to it from shards that do not use theirs.
#pragma once

// System.
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>
// fq, this room.
#include "core/redis/records/lent_record.h"
#include "core/redis/sharded/shards.h"

namespace fq {

class Purses {
 public:
  explicit Purses(Shards& shards);

  /// As its root or an answer of it says.
  void know(size_t shard, std::string_view lent);
  /// It did not answer.
  void forget(size_t shard) { known_[shard].reset(); }
  /// A pass begins: a purse that had nothing may have something again.
  void begin() {
    empty_.clear();
    next_ms_.clear();
  }
  /// The queue has limits over all shards of what runs.
  bool are_used() const;
  /// When the next one may start, where that was in the way of what was asked for in this pass: by the shard
  /// that the purse lies in, whose server's clock says so.
  const std::map<size_t, int64_t>& next_ms() const { return next_ms_; }
  /// It has messages that lack units of some limit.
  bool is_wanting(size_t shard) const;
  /// Loans for the next call of a shard that lacks something, for so many messages; "": there are none now.
  /// `was_in_vain`: nothing came of the last ones, and this is of what else it lacks.
  Result<std::string> fetch(size_t shard, size_t want, bool was_in_vain = false);
  /// Lends a shard what it lacks for a push; `times`: that was refused so often already. An Error: the queue
  /// is full.
  Result<void> make_room(size_t shard, const Lack& lack, int times);
  /// After the limits have become others: all shards use no more than all may, from here on.
  Result<void> count_anew();

  /// Of a limit, in all shards that answer.
  struct Total {
    double most = 0, share = 0, used = 0;
    bool is_full = false;               // nobody has any of it
    std::optional<int64_t> free_at_ms;  // of a rate, by the server's time; none: nobody knows
  };
  Result<std::map<std::string, Total>> totals();
  /// What does not agree: "" or a line for each limit. None: it was in use, and nobody can tell.
  Result<std::optional<std::vector<std::string>>> faults();
  /// All that was lent is forgotten: every shard tells anew what it uses.
  Result<void> mend();

  struct Loan {
    std::string epoch;
    double number = 0, units = 0;
    double until_ms = 0;  // of a rate: by the server's time
  };

 private:
  /// A call of a shard, in which none is lent anything for what it makes meanwhile.
  Result<Reply> call(size_t shard, const std::vector<std::string_view>& words);
  /// What has run out of its time in another shard makes room; likewise.
  Result<bool> do_what_is_due();
  Result<void> know_all();
  Total total_of(std::string_view name) const;
  /// What its purse says of a rate.
  Result<void> add_token(const std::string& name, Total& total);
  /// `block`: as many at least, where the purse has them.
  Result<std::optional<Loan>> borrow(const std::string& name, size_t shard, double want, double block);
  Result<Reply> ask(const std::string& name, size_t shard, double want);
  /// True: each of them has said what it uses, or of a rate, one that had not.
  Result<bool> join(const std::string& name, const Reply& answer);
  /// True: some have given something back, or will not take what was late.
  Result<bool> take_back(const std::string& name, const Reply& answer, size_t asks, double want);
  Result<void> give(size_t shard, const std::string& name, const std::string& epoch, const std::string& loan);
  std::string told_of_all(const std::string& name) const;
  std::vector<size_t> holders(const std::string& name, const std::string& epoch, size_t but) const;

  Shards& shards_;
  std::vector<std::optional<LentRecord>> known_;
  std::set<std::string> empty_;    // in this pass
  std::set<std::string> brought_;  // of which something came to the shard that was fetched for last
  bool is_calling_ = false;
  std::map<size_t, int64_t> next_ms_;
  std::mt19937_64 random_{std::random_device{}()};
};

}  // namespace fq
