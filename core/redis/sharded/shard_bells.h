// shard bells - who waits for work of many shards is told by each of them.
#pragma once

// System.
#include <vector>
// fq, this room.
#include "core/redis/waits/bells.h"
#include "core/redis/sharded/shards.h"

namespace fq {

class ShardBells {
 public:
  explicit ShardBells(Shards& shards) : shards_(shards) {}

  enum class State {
    deaf,   // not all of them are heard, or have noted it down: look often
    anew,   // what came before is found by one more look
    heard,  // from the last look on
  };
  State listen(const LeaseRequest& request);
  /// Who waits for one tenant calls its shard with each look, which strikes it out: so that same call has to
  /// note it down. Who waits for any looks at the roots, and calls none where there is nothing.
  bool are_noted_by_call(const LeaseRequest& request, size_t shard) const;
  /// Nobody waits any more: what comes is for others.
  void leave();
  /// Those which have rung and were not called since.
  std::vector<size_t> rung();

 private:
  /// True: some are noted down that were not.
  bool note(const std::vector<size_t>& shards, std::string_view tenant);
  bool are_noted(const std::vector<size_t>& shards) const;

  Shards& shards_;
  std::string tenant_;   // of which it was noted down last
  int64_t again_ms_ = 0;  // when those that would not are asked again
};

}  // namespace fq
