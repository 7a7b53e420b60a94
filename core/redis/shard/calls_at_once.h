// calls at once - a call for each of several shards of a queue, all sent before any is answered: they cost
// the time of one.
//
// What is unusual about an answer is seen to afterwards, shard by shard, as if that one had been asked alone:
// a cut connection, a shard that has moved, a library or room that it lacks, more that is due.
#pragma once

// System.
#include <deque>
#include <optional>
#include <string_view>
// fq, this room.
#include "core/redis/records/argument_list.h"
#include "core/redis/shard/shard.h"

namespace fq {

class CallsAtOnce {
 public:
  /// `link`: that of all the shards.
  explicit CallsAtOnce(ServerLink& link) : link_(link) {}

  /// The call's number, for answer(). All are of one function, and lazy or none is: see Shard::change().
  size_t add(Shard& shard, std::string_view function, ArgumentList arguments, bool is_lazy = false);
  /// So many of them are on their way at a time.
  void send(size_t at_a_time = kInFlightMax);
  /// It reached no server, or nothing was heard of it: who does without its answer waits for nobody.
  bool is_lost(size_t call) const;
  /// It is done: its answer waits for nothing.
  bool is_done(size_t call) const;
  /// Once for each: see Shard::change().
  Result<Reply> answer(size_t call, Shard::Lost lost);
  Result<Reply> answer(size_t call, const Shard::Again& again);
  /// Likewise: see Shard::change_once().
  Result<Reply> answer_once(size_t call);

 private:
  static constexpr size_t kInFlightMax =
      64;  // arbitrary: more would keep a server from all others for too long
  struct Call {
    Shard& shard;
    std::string_view function;
    ArgumentList arguments;
    bool is_lazy;
    std::optional<FunctionCall> prepared = {};
    FirstTry first = {};
  };

  ServerLink& link_;
  std::deque<Call> calls_;  // which stay where they are
};

}  // namespace fq
