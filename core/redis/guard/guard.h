// guard - the process that sees to what a worker had, when that is stopped or dead.
//
// While the worker lives it only listens. While it is stopped its session is kept alive, and the servers hear
// of that. When it is dead its messages come back at once, but for those whose jobs have left processes: each
// of these comes back when they have ended, or when as much time as the job had is over again: counted from
// the death, since until then the worker may have given it more.
#pragma once

// System.
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>
// fq, below us.
#include "core/base/clock.h"
#include "core/base/descriptor.h"
// fq, this room.
#include "core/redis/guard/guard_words.h"
#include "core/redis/shard/shard.h"

namespace fq {

class Guard {
 public:
  /// `socket`: the worker's other end is. `access`: to the servers of its spool.
  Guard(const ServerAccess& access, const GuardedWorker& worker, Descriptor socket);
  void run();

 private:
  struct Job {
    GuardedJob what;
    Descriptor pipe;              // at its end when the job and all that it left are
    int64_t ends_at_ms = kNever;  // while the worker lives its limit is the worker's to keep
  };
  enum class Heard { nothing, something, end, death };

  Heard listen();
  void wait(int64_t until_ms);
  Heard hear();
  void take_on(GuardedJob what, Descriptor pipe);
  std::vector<size_t> all() const;
  /// Those that have heard what they were told last.
  std::vector<size_t> heard(std::vector<size_t> shards) const;
  /// What is told to a shard.
  using MakeWords = std::function<std::vector<std::string>(size_t shard)>;
  /// Those that have more to do: that is due before it, or of it.
  std::vector<size_t> tell(const std::vector<size_t>& shards, const MakeWords& words);
  /// Until none has, but for no longer than the others can do without a word. False: some have.
  bool tell_at_last(std::vector<size_t> shards, const MakeWords& words);
  void see_to_jobs();
  bool tell_death();
  /// As the server's program reads it.
  std::string kept_in(size_t shard) const;

  std::shared_ptr<ServerLink> link_;
  std::deque<Shard> shards_;
  std::deque<bool> is_heard_;  // by each, the last time
  const int pid_;
  Descriptor socket_;
  std::list<Job> jobs_;
};

/// A worker speaks first, and says who it is.
Result<GuardedWorker> hear_worker(const Descriptor& socket);

}  // namespace fq
