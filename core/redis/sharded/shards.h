// shards - the parts of a queue that is cut into many, each a queue of one shard, and which of them has what.
//
// A whole account, the first part of a tenant's name, lies in one of them. Each is opened when it is first
// asked for; all share the connections, the session and its thread.
#pragma once

// System.
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
// fq, this room.
#include "core/redis/redis_queue.h"
#include "core/redis/waits/root_hints.h"
#include "core/redis/wire/answer.h"

namespace fq {

/// A shard that has something is visited once in so many visits of a client for each shard there is.
inline constexpr uint32_t kTurnsPerShard = 16;

/// Likewise, or it has lost what it begins with, which keeps nobody from the others.
inline bool serves_nothing(const Error& error) { return is_away(error) || says_lost_root(error); }

class Shards {
 public:
  /// Needs: an entry of several shards.
  Shards(QueueEntry entry, ServerAccess access);

  size_t count() const { return queues_.size(); }
  size_t of_tenant(std::string_view tenant) const;
  size_t of_id(MessageId id) const { return shard_of_id(id, count()); }
  /// Where it is not known at all, the shard that is asked for it says so.
  bool lies_elsewhere(MessageId id, size_t shard) const {
    return is_id_of(id, count()) && of_id(id) != shard;
  }
  size_t of_receipt(const Receipt& receipt);
  RedisQueue& at(size_t shard);
  WorkerGuard& guard() { return *guard_; }
  /// Of all of them.
  ServerLink& link() const { return *access_.link; }
  /// Whoever lends the shards room; before the first is asked for.
  void are_lent_room_by(std::function<std::unique_ptr<RoomLender>(size_t)> lender_of) {
    lender_of_ = std::move(lender_of);
  }

  const std::string& name() const { return entry_.name; }
  int64_t events_ms() const { return entry_.events_ms; }
  const OpenMoveTarget& open_target() const { return *access_.open_target; }
  const ServerAccess& access() const { return access_; }
  const std::string& tag(size_t shard) const { return entry_.tags[shard]; }
  std::string_view level() const;
  const std::string& nonce() const { return access_.shared->nonce; }
  /// Where a test tells the time.
  std::optional<int64_t> told_ms() const { return access_.told_ms(); }
  /// Commands that only look, in one go: see ServerLink.
  std::vector<Result<Reply>> ask_each(const std::vector<std::vector<std::string>>& commands) {
    return access_.link->ask_anew(commands);
  }
  /// Calls `ask(shard)` for each; those that serve nothing are noted as away. An Error: none of them serves,
  /// or it is another fault.
  template <class Ask>
  Result<void> for_each(Ask ask) {
    std::optional<Error> last;
    size_t lost = 0;
    for (size_t shard = 0; shard < count(); ++shard) {
      Result<void> asked = ask(shard);
      if (asked) continue;
      if (!serves_nothing(asked.error())) return asked;
      note_away(shard, asked.error());
      last = asked.error();
      ++lost;
    }
    return lost == count() ? Result<void>(*last) : Result<void>();
  }
  /// What the first that answers says to `ask(RedisQueue)`.
  template <class Ask>
  auto first_there(Ask ask) -> decltype(ask(std::declval<RedisQueue&>())) {
    for (size_t shard = 0;; ++shard) {
      auto said = ask(at(shard));
      if (said || !serves_nothing(said.error()) || shard + 1 == count()) return said;
    }
  }
  /// What is told is without this one.
  void note_away(size_t shard, const Error& error);
  /// From now on it is its process that says which are away, now and then.
  void attend() { is_attended_ = true; }
  bool is_attended() const { return is_attended_; }
  /// Of those that were noted for it, and may answer by now.
  void forget_away() { away_.clear(); }
  /// Whether it is time to say so.
  bool has_away_notice() const;
  void notice(std::string text) { notices_.push_back(std::move(text)); }
  /// Those, of the shards that were met, and of those that are away.
  std::vector<std::string> take_notices();
  int64_t patience_ms() const { return access_.place.poll_ms; }
  Bells* bells() const { return access_.bells.get(); }
  std::string bell(size_t shard) const { return tag(shard) + "bell:" + nonce(); }
  /// A call of a function that looks at nothing before, for ask_each().
  std::vector<std::string> function_command(size_t shard, std::string_view function,
                                            std::string_view argument) const;
  /// Of which all have to be answered.
  Result<std::vector<Reply>> ask(const std::vector<std::vector<std::string>>& commands);
  /// These fields of the root of each.
  std::vector<Result<Reply>> roots_each(std::span<const std::string_view> fields);
  Result<std::vector<Reply>> roots(std::span<const std::string_view> fields);
  /// Does what is due in those that answer and are not let alone. False: nothing was.
  Result<bool> do_what_is_due();
  /// What is due there cannot be done now: for a while nobody tries.
  void let_alone(size_t shard, Error why);
  /// Why; null: it is not.
  const Error* why_let_alone(size_t shard) const;
  /// Adds what asks for the clocks of all servers. Last of all: what a root says was so by then.
  void add_clocks(std::vector<std::vector<std::string>>& commands);
  /// What that of a shard's server said; 0: nothing.
  int64_t clock_ms(const std::vector<Result<Reply>>& replies, size_t shard) const;
  /// What of a root tells them apart.
  std::vector<std::string> root_command(size_t shard, std::span<const std::string_view> fields) const;

 private:
  static Result<std::vector<Reply>> all_of(std::vector<Result<Reply>> asked);

  QueueEntry entry_;
  size_t clock_count_ = 1;  // that were asked for last
  ServerAccess access_;
  std::unique_ptr<WorkerGuard> guard_;  // which hears of the end when all sessions have left
  std::vector<std::unique_ptr<RedisQueue>> queues_;
  std::function<std::unique_ptr<RoomLender>(size_t)> lender_of_;
  bool is_attended_ = false;
  struct Undone {
    Error why;
    int64_t until_ms;  // by our clock
  };
  std::map<size_t, Undone> undone_;  // those that are let alone
  AwayList away_;                    // of an attended one
  int64_t told_away_ms_ = 0;
  std::vector<std::string> notices_;
};

/// Places in a list by shard, each in the order of the list.
template <class T, class ShardOf>
std::vector<std::pair<size_t, std::vector<size_t>>> by_shard(std::span<const T> list, ShardOf shard_of) {
  std::vector<std::pair<size_t, std::vector<size_t>>> groups;
  for (size_t i = 0; i < list.size(); ++i) {
    const size_t shard = shard_of(list[i]);
    auto group =
        std::find_if(groups.begin(), groups.end(), [&](const auto& each) { return each.first == shard; });
    if (group == groups.end()) group = groups.insert(groups.end(), {shard, {}});
    group->second.push_back(i);
  }
  return groups;
}

}  // namespace fq
