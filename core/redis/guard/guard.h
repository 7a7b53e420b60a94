// guard - the process that sees to what a worker had, when that is stopped or dead.
//
// While the worker lives it only listens. While it is stopped its session is kept alive, and the servers hear of that. When it is dead its
// messages come back at once, but for those whose jobs have left processes: each of these comes back when
// they have ended, or when the job's time is over.
#pragma once

// System.
#include <deque>
#include <list>
#include <string>
// fq, below us.
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
    Descriptor pipe;  // at its end when the job and all that it left are
    int64_t ends_at_ms;
  };
  enum class Heard { nothing, something, end, death };

  Heard listen();
  void wait(int64_t until_ms);
  Heard hear();
  void tell_stop();
  void renew();
  void see_to_jobs();
  bool tell_death();
  Result<void> tell_death(size_t shard);
  /// As the server's program reads it.
  std::string kept_in(size_t shard) const;

  std::deque<Shard> shards_;
  const int pid_;
  Descriptor socket_;
  std::list<Job> jobs_;
};

/// A worker speaks first, and says who it is.
Result<GuardedWorker> hear_worker(const Descriptor& socket);

}  // namespace fq
